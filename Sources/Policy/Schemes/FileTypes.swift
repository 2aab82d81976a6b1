// The media types of files by the ends of their names, as far as they are in common use: a table of our own, so that
// the answer does not depend on what a machine has installed.
//
// Must not know: what is in a file.

/// Guesses the media type of a file.
package enum FileTypes {
    /// The type of a name without an end that is known (B14.11).
    package static let unknown = "application/octet-stream"

    /// The type that the last extension of a path stands for.
    package static func mimeType(ofPath path: String) -> String {
        let name = path.utf8.split(separator: UInt8(ascii: "/")).last ?? path.utf8[...]
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return unknown }
        let bytes = name[name.index(after: dot)...].map(ASCII.lowercase)
        return types[String(decoding: bytes, as: UTF8.self)] ?? unknown
    }

    private static let types: [String: String] = [
        "aac": "audio/aac", "apng": "image/apng", "avi": "video/x-msvideo", "avif": "image/avif", "bin": unknown,
        "bmp": "image/bmp", "bz2": "application/x-bzip2", "c": "text/plain", "conf": "text/plain", "css": "text/css",
        "csv": "text/csv", "deb": "application/vnd.debian.binary-package", "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "eml": "message/rfc822", "epub": "application/epub+zip", "flac": "audio/flac", "gif": "image/gif",
        "gz": "application/gzip", "h": "text/plain", "heic": "image/heic", "heif": "image/heif", "htm": "text/html",
        "html": "text/html", "ico": "image/vnd.microsoft.icon", "ics": "text/calendar",
        "jar": "application/java-archive",
        "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript", "json": "application/json",
        "jsonld": "application/ld+json", "jxl": "image/jxl", "log": "text/plain",
        "m3u8": "application/vnd.apple.mpegurl",
        "m4a": "audio/mp4", "m4v": "video/x-m4v", "markdown": "text/markdown", "md": "text/markdown",
        "mid": "audio/midi", "mjs": "text/javascript", "mkv": "video/x-matroska", "mov": "video/quicktime",
        "mp3": "audio/mpeg", "mp4": "video/mp4", "mpeg": "video/mpeg", "mpg": "video/mpeg",
        "odp": "application/vnd.oasis.opendocument.presentation",
        "ods": "application/vnd.oasis.opendocument.spreadsheet", "odt": "application/vnd.oasis.opendocument.text",
        "ogg": "audio/ogg", "ogv": "video/ogg", "opus": "audio/ogg", "otf": "font/otf", "pdf": "application/pdf",
        "plist": "application/x-plist", "png": "image/png", "ppt": "application/vnd.ms-powerpoint",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "ps": "application/postscript",
        "py": "text/x-python", "rtf": "application/rtf", "sh": "application/x-sh", "svg": "image/svg+xml",
        "swift": "text/x-swift", "tar": "application/x-tar", "text": "text/plain", "tgz": "application/gzip",
        "tif": "image/tiff", "tiff": "image/tiff", "toml": "application/toml", "ts": "video/mp2t",
        "tsv": "text/tab-separated-values", "ttf": "font/ttf", "txt": "text/plain", "usdz": "model/vnd.usdz+zip",
        "vcf": "text/vcard", "vtt": "text/vtt", "wasm": "application/wasm", "wav": "audio/wav", "weba": "audio/webm",
        "webm": "video/webm", "webp": "image/webp", "woff": "font/woff", "woff2": "font/woff2",
        "xhtml": "application/xhtml+xml", "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml",
        "xz": "application/x-xz", "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip",
        "zst": "application/zstd",
    ]
}
