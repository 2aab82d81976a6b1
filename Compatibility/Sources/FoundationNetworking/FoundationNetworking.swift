// A file that imports FoundationNetworking gets URLLoading.

@_exported import URLLoading
