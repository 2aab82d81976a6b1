// `NSData(contentsOf:)`, `NSString(contentsOf:)` and their kin for URLs that are no files: Foundation looks for a class of
// this name in a module of this name.

@_spi(SwiftCorelibsFoundation) import Foundation
@_spi(Compatibility) import URLLoading

/// What Foundation asks for the contents of a URL that is no file.
@usableFromInline
final class _NSNonfileURLContentLoader: _NSNonfileURLContentLoading {
    @usableFromInline
    init() {}

    @usableFromInline
    func contentsOf(url: URL) throws -> (result: NSData, textEncodingNameIfAvailable: String?) {
        let contents = try RemoteContents.load(url)
        return (NSData(data: contents.data), contents.textEncodingName)
    }
}
