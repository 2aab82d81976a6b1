// The content of a file at once, where it cannot be sent piece by piece.

import Foundation
import URLLoadingSystem

extension OpenFile {
    /// Everything that is in it; nil where it cannot be read, or is long without saying so. May wait for the disk.
    var wholeContent: Data? {
        let isKnown = saysItsLength
        var content = Data(count: isKnown ? Int(clamping: byteCount) : Self.mostUnsaid)
        var offset = 0
        while offset < content.count {
            let result = content.withUnsafeMutableBytes { buffer in
                read(at: Int64(offset), into: UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]))
            }
            switch result {
            case .success(let count): offset += count
            case .failure(.ended) where !isKnown:
                content.count = offset
                return content
            case .failure: return nil
            }
        }
        return isKnown ? content : nil
    }

    /// Picked by feel: longer than what systems tell in a file, and short enough for memory.
    private static let mostUnsaid = 16 << 20
}
