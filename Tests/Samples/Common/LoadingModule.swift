// The loading system of the platform, for all files of a module: URLLoading where the manifest has asked for it, Foundation's own elsewhere.

#if canImport(URLLoading)
    @_exported import URLLoading
#else
    @_exported import Foundation
#endif
