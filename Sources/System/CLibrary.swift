// The system's C library, and what Swift cannot import of it by itself. Both are imported here and nowhere else in this
// module: `@_exported` lets all files of the module, and those that import it, see them. Programs that use the library
// do not: nothing above exports this module.
//
// Both, since CURLLoadingPlatform includes headers of the C library: what these declare the compiler finds in one of
// the two modules only, and which one depends on what else it compiles.

@_exported import CURLLoadingPlatform

#if canImport(Glibc)
    @_exported import Glibc
#elseif canImport(Musl)
    @_exported import Musl
#elseif canImport(Bionic)
    @_exported import Bionic
#endif
