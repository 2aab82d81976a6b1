// The object identifiers that certificates are judged by, in their encoded form. RFC 5280 section 4.2.

/// Encoded object identifiers.
enum ObjectIdentifiers {
    // Extensions of certificates, behind id-ce (2.5.29).
    static let subjectKeyIdentifier: UInt8 = 14
    static let keyUsage: UInt8 = 15
    static let subjectAlternativeName: UInt8 = 17
    static let issuerAlternativeName: UInt8 = 18
    static let basicConstraints: UInt8 = 19
    static let crlNumber: UInt8 = 20
    static let deltaCRLIndicator: UInt8 = 27
    static let issuingDistributionPoint: UInt8 = 28
    static let certificateIssuer: UInt8 = 29
    static let nameConstraints: UInt8 = 30
    static let certificatePolicies: UInt8 = 32
    static let policyMappings: UInt8 = 33
    static let authorityKeyIdentifier: UInt8 = 35
    static let policyConstraints: UInt8 = 36
    static let extendedKeyUsage: UInt8 = 37
    static let inhibitAnyPolicy: UInt8 = 54

    /// The last arc of an identifier below id-ce; nil for others.
    static func standardExtension(_ identifier: UnsafeRawBufferPointer) -> UInt8? {
        guard identifier.count == 3, identifier[0] == 0x55, identifier[1] == 0x1D else { return nil }
        return identifier[2]
    }

    /// id-pe-authorityInfoAccess.
    static let authorityInformationAccess: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x01]
    /// id-pe-tlsfeature (RFC 7633).
    static let tlsFeature: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x18]

    // Purposes of extended key usage.
    static let serverAuthentication: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01]
    static let clientAuthentication: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02]
    static let ocspSigning: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x09]
    static let anyPurpose: [UInt8] = [0x55, 0x1D, 0x25, 0x00]

    // Attributes of names.
    static let commonName: [UInt8] = [0x55, 0x04, 0x03]
    static let emailAddress: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x01]

    /// The dotted text of an encoded identifier; empty when it is malformed.
    static func text(_ identifier: UnsafeRawBufferPointer) -> String {
        var arcs: [UInt] = []
        var arc: UInt = 0
        for octet in identifier {
            guard arc <= UInt.max >> 7 else { return "" }
            arc = arc << 7 | UInt(octet & 0x7F)
            if octet & 0x80 == 0 {
                arcs.append(arc)
                arc = 0
            }
        }
        guard let first = arcs.first, identifier.last.map({ $0 & 0x80 == 0 }) == true else { return "" }
        let top = min(first / 40, 2)
        return ([top, first - top * 40] + arcs.dropFirst()).map(String.init).joined(separator: ".")
    }
}
