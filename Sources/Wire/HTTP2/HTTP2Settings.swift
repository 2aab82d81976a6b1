// How one end of a connection wants to be spoken to: the values that hold. Which end acknowledges what, and when, is
// not decided here. RFC 9113 §6.5.

/// The settings of one end.
package struct HTTP2Settings: Sendable, Equatable {
    /// How large the dynamic table may be that its sender decodes with.
    package var headerTableSize: UInt32 = 4096
    /// Whether its sender takes pushes.
    package var enablesPush = true
    /// How many streams its sender lets the other end have at once; nil is without limit.
    package var maximumConcurrentStreams: UInt32?
    /// The window with which each stream begins towards its sender.
    package var initialWindowSize: UInt32 = 65_535
    /// How many bytes of payload a frame may have towards its sender.
    package var maximumFrameSize: UInt32 = 16_384
    /// How large a field list its sender likes to get; nil is without limit.
    package var maximumHeaderListSize: UInt32?
    /// Whether its sender knows the extended CONNECT (RFC 8441).
    package var enablesExtendedConnect = false
    /// Whether its sender ignores the priorities of RFC 7540 (RFC 9218 §2.1).
    package var ignoresOldPriorities = false

    /// What holds where nothing was said.
    package init() {}

    /// What our client announces (H10.1).
    package static var client: HTTP2Settings {
        var settings = HTTP2Settings()
        settings.enablesPush = false
        settings.initialWindowSize = 2 * 1024 * 1024
        settings.maximumHeaderListSize = 256 * 1024
        settings.ignoresOldPriorities = true
        return settings
    }

    /// Calls `body` with each value that is not what holds anyway, as a SETTINGS frame has them.
    func forEachEntry(_ body: (_ identifier: UInt16, _ value: UInt32) -> Void) {
        let standard = HTTP2Settings()
        if headerTableSize != standard.headerTableSize { body(Identifier.headerTableSize, headerTableSize) }
        if !enablesPush { body(Identifier.enablePush, 0) }
        if let maximumConcurrentStreams { body(Identifier.maximumConcurrentStreams, maximumConcurrentStreams) }
        if initialWindowSize != standard.initialWindowSize { body(Identifier.initialWindowSize, initialWindowSize) }
        if maximumFrameSize != standard.maximumFrameSize { body(Identifier.maximumFrameSize, maximumFrameSize) }
        if let maximumHeaderListSize { body(Identifier.maximumHeaderListSize, maximumHeaderListSize) }
        if enablesExtendedConnect { body(Identifier.enableConnectProtocol, 1) }
        if ignoresOldPriorities { body(Identifier.noOldPriorities, 1) }
    }

    /// Takes over what a frame has said.
    mutating func apply(_ change: HTTP2SettingsChange) {
        if let size = change.headerTableSize { headerTableSize = size }
        if let enables = change.enablesPush { enablesPush = enables }
        if let maximum = change.maximumConcurrentStreams { maximumConcurrentStreams = maximum }
        if let size = change.initialWindowSize { initialWindowSize = size }
        if let size = change.maximumFrameSize { maximumFrameSize = size }
        if let size = change.maximumHeaderListSize { maximumHeaderListSize = size }
        if let enables = change.enablesExtendedConnect { enablesExtendedConnect = enables }
        if let ignores = change.ignoresOldPriorities { ignoresOldPriorities = ignores }
    }

    /// The numbers of the settings (RFC 9113 §6.5.2, RFC 8441 §3, RFC 9218 §2.1).
    package enum Identifier {
        /// SETTINGS_HEADER_TABLE_SIZE.
        package static var headerTableSize: UInt16 { 0x1 }
        /// SETTINGS_ENABLE_PUSH.
        package static var enablePush: UInt16 { 0x2 }
        /// SETTINGS_MAX_CONCURRENT_STREAMS.
        package static var maximumConcurrentStreams: UInt16 { 0x3 }
        /// SETTINGS_INITIAL_WINDOW_SIZE.
        package static var initialWindowSize: UInt16 { 0x4 }
        /// SETTINGS_MAX_FRAME_SIZE.
        package static var maximumFrameSize: UInt16 { 0x5 }
        /// SETTINGS_MAX_HEADER_LIST_SIZE.
        package static var maximumHeaderListSize: UInt16 { 0x6 }
        /// SETTINGS_ENABLE_CONNECT_PROTOCOL.
        package static var enableConnectProtocol: UInt16 { 0x8 }
        /// SETTINGS_NO_RFC7540_PRIORITIES.
        package static var noOldPriorities: UInt16 { 0x9 }
    }
}
