// The whole library, played on one thread from a seed: engine, pool, tasks and stores on a virtual clock, with a
// network in memory and a server that speaks both protocols and breaks off, refuses, sends on, and says nothing.
// `make simulate SEEDS=1000` plays a thousand; `--seed N --trace` tells the story of one.

import Foundation
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

/// Plays seeds.
enum Simulation {
    static func run(_ words: [String]) {
        #if DEBUG
            beRepeatable()
            guard let options = Options(words) else {
                print(
                    "usage: URLLoadingTestPrograms simulate [--seeds COUNT] [--from SEED] [--seed SEED] [--trace] [--twice] [--until-failure]"
                )
                exit(64)
            }
            exit(play(options) ? 0 : 1)
        #else
            print("A release build has no place for a simulated machine: build without -c release.")
            exit(64)
        #endif
    }

    struct Options {
        var seeds: Range<UInt64> = 1..<101
        var isTraced = false
        /// Whether each is played twice, and both stories must be the same.
        var playsTwice = false
        /// Whether the first seed that fails is the last.
        var endsWithFailure = false

        init?(_ words: [String]) {
            var words = words[...]
            var (first, count) = (1 as UInt64, 100 as UInt64)
            while let word = words.popFirst() {
                switch word {
                case "--trace": isTraced = true
                case "--twice": playsTwice = true
                case "--until-failure": endsWithFailure = true
                case "--seeds", "--from", "--seed":
                    guard let number = words.popFirst().flatMap({ UInt64($0) }), number < 1 << 32 else { return nil }
                    switch word {
                    case "--seeds": count = number
                    case "--from": first = number
                    default: (first, count) = (number, 1)
                    }
                default: return nil
                }
            }
            seeds = first..<first + count
        }
    }

    #if DEBUG
        /// Sets and dictionaries have their elements in another order in each process, unless it is told not to.
        private static func beRepeatable() {
            let name = "SWIFT_DETERMINISTIC_HASHING"
            guard ProcessInfo.processInfo.environment[name] == nil else { return }
            setenv(name, "1", 1)
            var arguments = CommandLine.arguments.map { strdup($0) } + [nil]
            execv("/proc/self/exe", &arguments)
            // It has not begun anew.
            print("The program cannot start itself again with \(name)=1: set it by hand.")
            exit(71)
        }

        private static func play(_ options: Options) -> Bool {
            let start = ContinuousClock.now
            var failed: [UInt64] = []
            for seed in options.seeds {
                let run = Run(seed, keepsStory: options.isTraced)
                if options.isTraced { for line in run.story.lines { print(line) } }
                var faults = run.faults
                if options.playsTwice, Run(seed, keepsStory: false).story.digest != run.story.digest {
                    faults.append("a second run went another way")
                }
                guard !faults.isEmpty else { continue }
                failed.append(seed)
                print("seed \(seed): \(faults.prefix(5).joined(separator: "; "))")
                if options.endsWithFailure { break }
            }
            let took = ContinuousClock.now - start
            print(
                "\(options.seeds.count) seeds in \(took.formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1)))): "
                    + (failed.isEmpty ? "nothing wrong" : "\(failed.count) failed"))
            return failed.isEmpty
        }
    #endif
}

#if DEBUG
    /// One seed, played.
    struct Run {
        let story: Story
        let faults: [String]

        init(_ seed: UInt64, keepsStory: Bool) {
            let world = World(seed: seed, keepsStory: keepsStory)
            Machine.simulated = world
            Self.play(world, seed)
            story = world.story
            faults = world.faults
        }

        private static func play(_ world: World, _ seed: UInt64) {
            let stage = Stage(world)
            var options = LoopbackServer.Options()
            options.http2 = .offered
            options.http2.settings.maximumConcurrentStreams = [1, 3, 100][Int(seed % 3)]
            options.http2.settings.initialWindowSize = [100, 65_535, 1 << 20][Int(seed / 3 % 3)]
            world.network.streams = Int(options.http2.settings.maximumConcurrentStreams ?? 1)
            let server = StreamServer(on: world.reactor, options: options) { stage.answer($0) }
            world.network.server = server
            let program = Program(world, seed: seed)
            stage.errands = program.errands
            program.plan()
            // What waits longer than any task are pauses of the server.
            _ = world.play(until: .seconds(400))
            Verdict(world: world, program: program, stage: stage).give()
            let watched = program.letGo()
            // What the engine keeps goes when it is idle; what servers keep, when they are closed.
            server.closeConnections()
            world.network.abandon()
            if !world.play(until: .seconds(500)) { world.complain("it does not come to an end") }
            for weak in watched where weak.object != nil { world.complain("the \(weak.name) is still there") }
            if world.network.ends.open > 0 { world.complain("\(world.network.ends.open) ends of streams are open") }
            world.network.server = nil
            world.reactor.tearDown()
        }
    }
#endif
