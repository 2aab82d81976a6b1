// `Data(contentsOf:)` and `String(contentsOf:encoding:)` for URLs that are no files.
//
// Foundation leaves a place in `Data` for a library that can load; FoundationNetworking takes it in the same way.
// `NSData` and its kin look for a class in a module named FoundationNetworking instead, which only
// `Compatibility/` can serve.

import Foundation
@_spi(SwiftCorelibsFoundation) import FoundationEssentials

extension Data {
    @_dynamicReplacement(for:init(_contentsOfRemote:options:))
    private init(_contentsOfRemote_urlloading url: URL, options: Data.ReadingOptions = []) throws {
        self = try RemoteContents.load(url).data
    }
}
