// What one SETTINGS frame says, checked as it is read: a few numbers, however many entries the
// frame has. RFC 9113 §6.5.2.

/// What one SETTINGS frame has said; of several values of one setting the last.
package struct HTTP2SettingsChange: Sendable, Equatable {
    /// The last size of the dynamic table.
    package private(set) var headerTableSize: UInt32?
    /// The smallest of the sizes that it had between; the next block begins by saying it (RFC 7541 §4.2).
    package private(set) var smallestHeaderTableSize: UInt32?
    /// Whether pushes are taken.
    package private(set) var enablesPush: Bool?
    /// How many streams there may be at once.
    package private(set) var maximumConcurrentStreams: UInt32?
    /// The window with which each stream begins.
    package private(set) var initialWindowSize: UInt32?
    /// How many bytes of payload a frame may have.
    package private(set) var maximumFrameSize: UInt32?
    /// How large a field list is liked.
    package private(set) var maximumHeaderListSize: UInt32?
    /// Whether the extended CONNECT is known.
    package private(set) var enablesExtendedConnect: Bool?
    /// Whether the priorities of RFC 7540 are ignored.
    package private(set) var ignoresOldPriorities: Bool?
    /// How many entries the frame had, those that mean nothing included.
    package private(set) var entryCount = 0

    /// Nothing was said.
    package init() {}

    /// Takes one entry from the end that is `sender`; one that is not known is ignored (H4.5).
    mutating func add(
        _ identifier: UInt16, _ value: UInt32, from sender: HTTP2Role
    ) throws(HTTP2Fault) {
        entryCount += 1
        switch identifier {
        case HTTP2Settings.Identifier.headerTableSize:
            headerTableSize = value
            smallestHeaderTableSize = min(smallestHeaderTableSize ?? value, value)
        case HTTP2Settings.Identifier.enablePush:
            // A server cannot be pushed to, so it has nothing to allow.
            guard value == 0 || value == 1 && sender == .client else { throw .connection(.pushSetting) }
            enablesPush = value == 1
        case HTTP2Settings.Identifier.maximumConcurrentStreams: maximumConcurrentStreams = value
        case HTTP2Settings.Identifier.initialWindowSize:
            guard value <= HTTP2FlowWindow.largest else { throw .connection(.windowSetting) }
            initialWindowSize = value
        case HTTP2Settings.Identifier.maximumFrameSize:
            guard (16_384...16_777_215).contains(value) else { throw .connection(.frameSizeSetting) }
            maximumFrameSize = value
        case HTTP2Settings.Identifier.maximumHeaderListSize: maximumHeaderListSize = value
        case HTTP2Settings.Identifier.enableConnectProtocol: enablesExtendedConnect = value == 1
        case HTTP2Settings.Identifier.noOldPriorities:
            // RFC 9218 §2.1.
            guard value <= 1 else { throw .connection(.prioritySetting) }
            ignoresOldPriorities = value == 1
        default: break
        }
    }
}
