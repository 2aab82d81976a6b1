// Errors: what each reason means for the request, and that each has a sentence that a person understands.

import Testing
import URLLoadingWire

@Suite("WireError")
struct WireErrorTests {
    private static let malformed: [WireError] = [
        .notHTTP, .alertOfTLS, .unsupportedVersion, .malformedStatusLine, .statusCodeOutOfRange, .malformedRequestLine,
        .bareCarriageReturn, .nulByte, .missingColon, .malformedFieldName, .whitespaceBeforeColon,
        .foldBeforeFirstField, .lineTooLong(limit: 1), .headTooLarge(limit: 1), .tooManyFields(limit: 1),
        .trailersTooLarge(limit: 1), .malformedContentLength, .conflictingContentLengths, .ambiguousRequestFraming,
        .malformedChunkSize, .chunkSizeOverflow, .chunkLineTooLong(limit: 1), .missingChunkTerminator,
    ]
    private static let truncated: [WireError] = [
        .closedBeforeResponse, .closedInHead, .closedInBody(received: 512, expected: 4096),
        .closedInChunked(received: 7), .bytesWithoutRequest,
    ]
    private static let bad: [WireError] = [
        .unknownTransferCoding, .tooManyInformationalResponses(limit: 1), .unexpectedSwitchOfProtocols,
    ]
    private static let undecodable: [WireError] = [
        .corruptContent, .truncatedContent, .contentChecksumMismatch, .contentLengthMismatch,
        .contentWindowTooLarge, .contentNeedsDictionary, .tooManyCodings(limit: 1), .decoderOutOfMemory,
        .decodedTooLong(reached: 2, limit: 1), .decodedTooMuch(reached: 5, coded: 2, ratio: 2),
    ]
    private static let invalid: [WireError] = [
        .unsendableMethod, .unsendableTarget, .unsendableFieldName, .unsendableFieldValue, .unsendableStatus,
        .unsendableReason, .unsendableFraming,
    ]

    @Test("B17.16, B17.23, B17.27, B17.29: every reason has the kind its code is made from")
    func kinds() {
        #expect(Self.malformed.allSatisfy { $0.kind == .malformedResponse })
        #expect(Self.truncated.allSatisfy { $0.kind == .truncated })
        #expect(Self.bad.allSatisfy { $0.kind == .badResponse })
        #expect(Self.undecodable.allSatisfy { $0.kind == .undecodableContent })
        #expect(Self.invalid.allSatisfy { $0.kind == .invalidRequest })
    }

    @Test("B17.4: every reason is a sentence of its own")
    func sentences() {
        let all = Self.malformed + Self.truncated + Self.bad + Self.undecodable + Self.invalid
        for error in all { #expect(error.description.hasSuffix(".") && error.description.count > 20) }
        #expect(Set(all.map(\.description)).count == all.count)
        #expect(
            WireError.closedInBody(received: 512, expected: 4096).description
                == "The peer closed the connection after 512 of 4096 body bytes.")
    }
}
