// Whoever imports FoundationNetworking gets URLLoading.

@_exported import URLLoading
