// Errors as the protocol names them. Driver protocol, section 4.

import Foundation
import URLLoading

/// An error in the words of the protocol.
struct TransferError: Sendable, Equatable {
    let domain: String
    let code: Int
    let name: String
    let detail: String

    init(_ error: any Error) {
        let general = error as NSError
        domain = general.domain
        code = general.code
        name = (error as? URLError).map { Self.name($0.code) } ?? "other"
        detail = Self.detail(error)
    }

    /// The error of a text that is no URL.
    static let badURL = TransferError(URLError(.badURL))

    /// The description, and those of the errors beneath.
    private static func detail(_ error: any Error) -> String {
        var texts: [String] = []
        var next: (any Error)? = error
        while let error = next, texts.count < 8 {
            let text = error.localizedDescription
            if texts.last != text { texts.append(text) }
            next = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
        }
        return texts.joined(separator: " — ")
    }

    private static func name(_ code: URLError.Code) -> String {
        switch code {
        case .unknown: "unknown"
        case .cancelled: "cancelled"
        case .badURL: "badURL"
        case .timedOut: "timedOut"
        case .unsupportedURL: "unsupportedURL"
        case .cannotFindHost: "cannotFindHost"
        case .cannotConnectToHost: "cannotConnectToHost"
        case .networkConnectionLost: "networkConnectionLost"
        case .dnsLookupFailed: "dnsLookupFailed"
        case .httpTooManyRedirects: "httpTooManyRedirects"
        case .resourceUnavailable: "resourceUnavailable"
        case .notConnectedToInternet: "notConnectedToInternet"
        case .redirectToNonExistentLocation: "redirectToNonExistentLocation"
        case .badServerResponse: "badServerResponse"
        case .userCancelledAuthentication: "userCancelledAuthentication"
        case .userAuthenticationRequired: "userAuthenticationRequired"
        case .zeroByteResource: "zeroByteResource"
        case .cannotDecodeRawData: "cannotDecodeRawData"
        case .cannotDecodeContentData: "cannotDecodeContentData"
        case .cannotParseResponse: "cannotParseResponse"
        case .internationalRoamingOff: "internationalRoamingOff"
        case .callIsActive: "callIsActive"
        case .dataNotAllowed: "dataNotAllowed"
        case .requestBodyStreamExhausted: "requestBodyStreamExhausted"
        case .appTransportSecurityRequiresSecureConnection: "appTransportSecurityRequiresSecureConnection"
        case .fileDoesNotExist: "fileDoesNotExist"
        case .fileIsDirectory: "fileIsDirectory"
        case .noPermissionsToReadFile: "noPermissionsToReadFile"
        case .dataLengthExceedsMaximum: "dataLengthExceedsMaximum"
        case .secureConnectionFailed: "secureConnectionFailed"
        case .serverCertificateHasBadDate: "serverCertificateHasBadDate"
        case .serverCertificateUntrusted: "serverCertificateUntrusted"
        case .serverCertificateHasUnknownRoot: "serverCertificateHasUnknownRoot"
        case .serverCertificateNotYetValid: "serverCertificateNotYetValid"
        case .clientCertificateRejected: "clientCertificateRejected"
        case .clientCertificateRequired: "clientCertificateRequired"
        case .cannotLoadFromNetwork: "cannotLoadFromNetwork"
        case .cannotCreateFile: "cannotCreateFile"
        case .cannotOpenFile: "cannotOpenFile"
        case .cannotCloseFile: "cannotCloseFile"
        case .cannotWriteToFile: "cannotWriteToFile"
        case .cannotRemoveFile: "cannotRemoveFile"
        case .cannotMoveFile: "cannotMoveFile"
        case .downloadDecodingFailedMidStream: "downloadDecodingFailedMidStream"
        case .downloadDecodingFailedToComplete: "downloadDecodingFailedToComplete"
        case .backgroundSessionRequiresSharedContainer: "backgroundSessionRequiresSharedContainer"
        case .backgroundSessionInUseByAnotherProcess: "backgroundSessionInUseByAnotherProcess"
        case .backgroundSessionWasDisconnected: "backgroundSessionWasDisconnected"
        }
    }
}
