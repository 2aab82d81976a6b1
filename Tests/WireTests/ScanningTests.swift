// The scans look at sixteen bytes at a time; here every kind of byte is put at every place, so that the steps, the
// seams between them and the rest at the end are all met. The heads are parsed by the public door.

import Testing
import URLLoadingWire

@Suite("Looking for delimiters")
struct ScanningTests {
    /// The outcome of a head whose only field has this name and value.
    private func parse(name: [UInt8], value: [UInt8], padding: Int) -> Result<
        (name: [UInt8], value: [UInt8])?, WireError
    > {
        var parser = HeadParser(.response)
        var bytes = Array("HTTP/1.1 200 OK\r\n".utf8) + name + [0x3A] + value + [0x0D, 0x0A, 0x0D, 0x0A]
        bytes += [UInt8](repeating: 0x20, count: padding)
        var offset = 0
        do throws(WireError) {
            guard try parser.parse(bytes.span.bytes, offset: &offset) else { return .success(nil) }
        } catch {
            return .failure(error)
        }
        #expect(offset == bytes.count - padding)
        let fields = parser.takeFields()
        guard fields.count == 1 else { return .success(nil) }
        return .success((fields.withNameBytes(at: 0) { Array($0) }, fields.withValueBytes(at: 0) { Array($0) }))
    }

    @Test("B16.25: a byte that no name may hold is found at every place of a name", arguments: [0, 40])
    func bytesInNames(padding: Int) {
        for length in [1, 2, 7, 15, 16, 17, 31, 32, 33, 50] {
            for place in 0..<length {
                for byte in [0x00, 0x09, 0x20, 0x22, 0x28, 0x2F, 0x40, 0x5B, 0x7B, 0x7F, 0x80, 0xFF] as [UInt8] {
                    var name = [UInt8](repeating: 0x61, count: length)
                    name[place] = byte
                    guard case .failure = parse(name: name, value: [0x62], padding: padding) else {
                        Issue.record("byte \(byte) at \(place) of \(length)")
                        continue
                    }
                }
                for byte in [0x21, 0x2D, 0x2E, 0x30, 0x39, 0x41, 0x5A, 0x5E, 0x61, 0x7A, 0x7C, 0x7E] as [UInt8] {
                    var name = [UInt8](repeating: 0x61, count: length)
                    name[place] = byte
                    guard case .success(let field?) = parse(name: name, value: [0x62], padding: padding) else {
                        Issue.record("byte \(byte) at \(place) of \(length)")
                        continue
                    }
                    #expect(field.name == name)
                }
            }
        }
    }

    @Test("B16.26: a control byte is found at every place of a value", arguments: [0, 40])
    func bytesInValues(padding: Int) {
        for length in [3, 4, 15, 16, 17, 31, 32, 33, 50] {
            for place in 1..<(length - 1) {
                var value = [UInt8](repeating: 0x61, count: length)
                for byte in UInt8.min...UInt8.max {
                    value[place] = byte
                    let outcome = parse(name: [0x41], value: value, padding: padding)
                    switch byte {
                    case 0: #expect(throws: WireError.nulByte) { try outcome.get() }
                    case 0x0A: #expect(throws: WireError.self) { try outcome.get() }
                    case 0x0D: #expect(throws: WireError.bareCarriageReturn) { try outcome.get() }
                    default:
                        var cleaned = value
                        if Tokens.isControl(byte) { cleaned[place] = 0x20 }
                        guard case .success(let field?) = outcome, field.value == cleaned else {
                            Issue.record("byte \(byte) at \(place) of \(length)")
                            continue
                        }
                    }
                }
            }
        }
    }

    @Test("B5.47: white space around a value of any length is trimmed")
    func trimming() {
        for length in 0..<40 {
            let core = [UInt8](repeating: 0x61, count: length)
            for blanks in [0, 1, 2, 15, 16, 17] {
                let space = [UInt8](repeating: 0x20, count: blanks)
                let tabs = [UInt8](repeating: 0x09, count: blanks)
                guard case .success(let field?) = parse(name: [0x41], value: space + core + tabs, padding: 3) else {
                    Issue.record("\(blanks) blanks around \(length)")
                    continue
                }
                #expect(field.value == core)
            }
        }
    }
}
