// The variables of --write-out: their names are curl's.

/// What can stand between `%{` and `}`.
package enum WriteOutVariable: String, CaseIterable, Sendable {
    case contentType = "content_type"
    case errormsg
    case exitcode
    case filename = "filename_effective"
    case headerJSON = "header_json"
    case httpCode = "http_code"
    case httpVersion = "http_version"
    case json
    case localIP = "local_ip"
    case localPort = "local_port"
    case method
    case newline
    case numConnects = "num_connects"
    case numHeaders = "num_headers"
    case numRedirects = "num_redirects"
    case numRetries = "num_retries"
    case onError = "onerror"
    case redirectURL = "redirect_url"
    case referer
    case remoteIP = "remote_ip"
    case remotePort = "remote_port"
    case responseCode = "response_code"
    case scheme
    case sizeDownload = "size_download"
    case sizeHeader = "size_header"
    case sizeRequest = "size_request"
    case sizeUpload = "size_upload"
    case speedDownload = "speed_download"
    case speedUpload = "speed_upload"
    case sslVerifyResult = "ssl_verify_result"
    case standardError = "stderr"
    case standardOutput = "stdout"
    case timeAppConnect = "time_appconnect"
    case timeConnect = "time_connect"
    case timeNameLookup = "time_namelookup"
    case timePretransfer = "time_pretransfer"
    case timeRedirect = "time_redirect"
    case timeStartTransfer = "time_starttransfer"
    case timeTotal = "time_total"
    case url
    case urlEffective = "url_effective"
    case urlNumber = "urlnum"

    /// What it is in `%{json}`.
    enum Kind {
        case text
        case number
        /// It changes where the text goes, or holds others.
        case none
    }

    var kind: Kind {
        switch self {
        case .headerJSON, .json, .newline, .onError, .standardError, .standardOutput: .none
        case .contentType, .errormsg, .filename, .httpVersion, .localIP, .method, .redirectURL, .referer, .remoteIP,
            .scheme, .url,
            .urlEffective:
            .text
        default: .number
        }
    }
}
