import Testing
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

/// What happens where the machine has not enough of something: B16.6 and the limits of a process.
@Suite struct ShortageTests {
    /// A rig with an idle connection to each of so many hosts.
    private func rig(_ count: Int, configure: (inout EngineConfiguration) -> Void = { _ in }) -> EngineRig {
        let rig = EngineRig(configure: configure)
        for number in 0..<count {
            rig.network.serve("host\(number).test", address: "10.0.1.\(number)") { [unowned rig] stream in
                rig.keep(
                    stream,
                    ScriptedPeer(
                        stream, on: rig.reactor, [.receiveHead, .respond("x"), .receiveHead, .respond("x")]))
            }
            rig.submit(host: "host\(number).test")
            rig.settle()
        }
        return rig
    }

    private func serve(_ rig: EngineRig) -> MemoryNetwork.Behaviour {
        .accept { [unowned rig] stream in
            rig.keep(stream, ScriptedPeer(stream, on: rig.reactor, [.receiveHead, .respond("late")]))
        }
    }

    @Test("Of more idle connections than there may be, the one goes that has been idle for the longest time")
    func limit() {
        let rig = rig(5) { $0.maximumIdleConnections = 3 }
        #expect(rig.core.counts == PoolCounts(idle: 3))
        for number in [4, 3, 2] {
            rig.submit(host: "host\(number).test")
            rig.settle()
        }
        #expect(rig.network.dialled.count == 5)
        rig.submit(host: "host0.test")
        rig.settle()
        #expect(rig.network.dialled.count == 6 && rig.core.counts.idle == 3)
        rig.expectClean()
    }

    @Test("A dial that finds no descriptor closes idle connections, and is made again", arguments: [EMFILE, ENFILE])
    func dials(errno: Int32) {
        let rig = rig(6)
        rig.network.setName("late.test", .addresses(["10.0.0.9"]))
        rig.network.setAddress("10.0.0.9:80", .failFirst(1, errno: errno, then: serve(rig)))
        let late = rig.submit(host: "late.test")
        rig.settle()
        #expect(late.text == "late" && late.error == nil)
        #expect(rig.core.counts.idle == 3)
        rig.submit(host: "host5.test")
        rig.settle()
        #expect(rig.network.dialled.count == 8)
        rig.expectClean()
    }

    @Test("A dial among several addresses that finds no descriptor is made again too")
    func races() {
        let rig = rig(1)
        rig.network.setName("late.test", .addresses(["10.0.0.9", "10.0.0.8"]))
        rig.network.setAddress("10.0.0.9:80", .failFirst(1, errno: EMFILE, then: serve(rig)))
        let late = rig.submit(host: "late.test")
        rig.settle()
        #expect(late.text == "late" && late.error == nil)
        #expect(rig.network.dialled.suffix(2) == ["10.0.0.9:80", "10.0.0.9:80"])
        rig.expectClean()
    }

    @Test("A look-up that finds no descriptor is made again when idle connections were closed")
    func lookUps() {
        let rig = rig(1)
        rig.network.setName("late.test", .lacksDescriptors(then: .addresses(["10.0.0.9"])))
        rig.network.setAddress("10.0.0.9:80", serve(rig))
        let late = rig.submit(host: "late.test")
        rig.settle()
        #expect(late.text == "late" && late.error == nil)
        rig.expectClean()
    }

    @Test("Where nothing is idle the error names what is short")
    func nothingToClose() {
        for isName in [false, true] {
            let rig = EngineRig()
            rig.network.setName(
                "late.test", isName ? .lacksDescriptors(then: .hangs) : .addresses(["10.0.0.9"]))
            rig.network.setAddress("10.0.0.9:80", .fail(errno: EMFILE))
            let late = rig.submit(host: "late.test")
            rig.settle()
            guard case .localResource(let error)? = late.error else {
                Issue.record("\(String(describing: late.error))")
                continue
            }
            #expect(error.errno == EMFILE)
            rig.expectClean()
        }
    }

    @Test("Where a proxy cannot be looked up for want of descriptors it is not the proxy that fails, nor gone round")
    func proxyLookUp() throws {
        let rig = EngineRig()
        rig.network.setName("proxy.test", .lacksDescriptors(then: .hangs))
        let journal = rig.submit(host: "late.test", route: .proxied(try testProxy()))
        rig.settle()
        guard case .localResource(let error)? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        #expect(error.errno == EMFILE && journal.error?.isOfTheWay == false)
        rig.expectClean()
    }
}
