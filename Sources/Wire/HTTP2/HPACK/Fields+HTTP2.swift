// Which fields of a head are sent in HTTP/2. RFC 9113 §8.2.2; H3.4.

extension Fields {
    /// The fields that HTTP/2 has, in the spelling of the head; Host stays, as it is what `:authority` says.
    package var sentInHTTP2: Fields {
        let namesFields = connectionNamesFields
        var sent = Fields()
        table.withContents { bytes, slots in
            for (index, slot) in slots.enumerated() {
                let name = bytes.name(of: slot)
                var value = value(at: index)
                switch FieldRole(name) {
                case .ordinary, .host, .contentLength: break
                case .connection, .connectionSpecific: continue
                case .te:
                    guard bytes.value(of: slot).acceptsTrailers else { continue }
                    value = "trailers"
                }
                if namesFields, connectionNames(name) { continue }
                sent.append(self.name(at: index), value)
            }
        }
        return sent
    }

    /// Whether Connection names a field that would otherwise go; "keep-alive" and "close" name none.
    var connectionNamesFields: Bool {
        var namesFields = false
        forEachValue(.connection) { value in
            var members = ListMembers(value)
            while let member = members.next() {
                if !member.equalsIgnoringCase("close"), FieldRole(member) == .ordinary { namesFields = true }
            }
        }
        return namesFields
    }

    /// Whether Connection names this field.
    func connectionNames(_ name: UnsafeRawBufferPointer) -> Bool {
        var isNamed = false
        forEachValue(.connection) { isNamed = isNamed || $0.hasMember(name) }
        return isNamed
    }
}

extension UnsafeRawBufferPointer {
    /// Whether it is the value of a `te` that HTTP/2 has.
    var acceptsTrailers: Bool { hasMember(UnsafeRawBufferPointer.trailers.bytes) }

    private static var trailers: StaticString { "trailers" }

    /// Whether the comma list has that member, without regard to case.
    fileprivate func hasMember(_ wanted: UnsafeRawBufferPointer) -> Bool {
        var members = ListMembers(self)
        while let member = members.next() {
            if member.equalsIgnoringCase(wanted) { return true }
        }
        return false
    }
}
