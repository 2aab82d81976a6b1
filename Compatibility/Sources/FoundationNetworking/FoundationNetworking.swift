// A program that imports FoundationNetworking gets URLLoading.

@_exported import URLLoading
