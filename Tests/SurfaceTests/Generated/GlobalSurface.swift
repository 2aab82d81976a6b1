// The API of the globals, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import Testing
import URLLoading

@Suite("The API of the globals")
struct GlobalSurface {
    @Test("(global): constants")
    func globalConstants() {
        #expect(NSURLErrorNetworkUnavailableReasonKey == "NSURLErrorNetworkUnavailableReasonKey")
        #expect(NSURLErrorFileOutsideSafeArea == -1104)
        #expect(NSErrorFailingURLStringKey == "NSErrorFailingURLStringKey")
        #expect(NSURLSessionTransferSizeUnknown == -1)
        #expect(NSURLSessionDownloadTaskResumeData == "NSURLSessionDownloadTaskResumeData")
        #expect(NSURLSessionUploadTaskResumeData == "NSURLSessionUploadTaskResumeData")
        #expect(kSecTrustEvaluationDate == "TrustEvaluationDate")
        #expect(kSecTrustExtendedValidation == "TrustExtendedValidation")
        #expect(kSecTrustOrganizationName == "Organization")
        #expect(kSecTrustResultValue == "TrustResultValue")
        #expect(kSecTrustRevocationChecked == "TrustRevocationChecked")
        #expect(kSecTrustRevocationValidUntilDate == "TrustExpirationDate")
        #expect(kSecTrustCertificateTransparency == "TrustCertificateTransparency")
        #expect(kSecRevocationOCSPMethod == 1)
        #expect(kSecRevocationCRLMethod == 2)
        #expect(kSecRevocationPreferCRL == 4)
        #expect(kSecRevocationRequirePositiveResponse == 8)
        #expect(kSecRevocationNetworkAccessDisabled == 16)
        #expect(kSecRevocationUseAnyAvailableMethod == 3)
        #expect(kSecPolicyAppleX509Basic == "1.2.840.113635.100.1.2")
        #expect(kSecPolicyAppleSSL == "1.2.840.113635.100.1.3")
        #expect(kSecPolicyAppleRevocation == "1.2.840.113635.100.1.21")
        #expect(kSecPolicyOid == "SecPolicyOid")
        #expect(kSecPolicyName == "SecPolicyName")
        #expect(kSecPolicyClient == "SecPolicyClient")
        #expect(kSecAttrKeyType == "type")
        #expect(kSecAttrKeyClass == "kcls")
        #expect(kSecAttrKeySizeInBits == "bsiz")
        #expect(kSecAttrKeyTypeRSA == "42")
        #expect(kSecAttrKeyTypeEC == "73")
        #expect(kSecAttrKeyTypeECSECPrimeRandom == "73")
        #expect(kSecAttrKeyClassPublic == "0")
        #expect(kSecAttrKeyClassPrivate == "1")
        #expect(kSecImportExportPassphrase == "passphrase")
        #expect(kSecImportItemLabel == "label")
        #expect(kSecImportItemKeyID == "keyid")
        #expect(kSecImportItemTrust == "trust")
        #expect(kSecImportItemCertChain == "chain")
        #expect(kSecImportItemIdentity == "identity")
        #expect(errSecSuccess == 0)
        #expect(errSecUnimplemented == -4)
        #expect(errSecIO == -36)
        #expect(errSecParam == -50)
        #expect(errSecAllocate == -108)
        #expect(errSecUserCanceled == -128)
        #expect(errSecBadReq == -909)
        #expect(errSecInternalComponent == -2070)
        #expect(noErr == 0)
        #expect(errSecNotAvailable == -25291)
        #expect(errSecAuthFailed == -25293)
        #expect(errSecDuplicateItem == -25299)
        #expect(errSecItemNotFound == -25300)
        #expect(errSecInteractionNotAllowed == -25308)
        #expect(errSecCreateChainFailed == -25318)
        #expect(errSecUnsupportedFormat == -25256)
        #expect(errSecUnknownFormat == -25257)
        #expect(errSecPassphraseRequired == -25260)
        #expect(errSecNoTrustSettings == -25263)
        #expect(errSecPkcs12VerifyFailure == -25264)
        #expect(errSecNotSigner == -26267)
        #expect(errSecDecode == -26275)
        #expect(errSecHostNameMismatch == -67602)
        #expect(errSecUnknownCriticalExtensionFlag == -67603)
        #expect(errSecNoBasicConstraints == -67604)
        #expect(errSecNoBasicConstraintsCA == -67605)
        #expect(errSecInvalidKeyUsageForPolicy == -67608)
        #expect(errSecInvalidExtendedKeyUsage == -67609)
        #expect(errSecPathLengthConstraintExceeded == -67611)
        #expect(errSecInvalidRoot == -67612)
        #expect(errSecSSLBadExtendedKeyUsage == -67629)
        #expect(errSecIncompleteCertRevocationCheck == -67635)
        #expect(errSecNetworkFailure == -67636)
        #expect(errSecCertificateExpired == -67818)
        #expect(errSecCertificateNotValidYet == -67819)
        #expect(errSecCertificateRevoked == -67820)
        #expect(errSecInvalidCertAuthority == -67826)
        #expect(errSecNotTrusted == -67843)
        #expect(NSURLAuthenticationMethodDefault == "NSURLAuthenticationMethodDefault")
        #expect(NSURLAuthenticationMethodHTTPBasic == "NSURLAuthenticationMethodHTTPBasic")
        #expect(NSURLAuthenticationMethodHTTPDigest == "NSURLAuthenticationMethodHTTPDigest")
        #expect(NSURLAuthenticationMethodHTMLForm == "NSURLAuthenticationMethodHTMLForm")
        #expect(NSURLAuthenticationMethodNTLM == "NSURLAuthenticationMethodNTLM")
        #expect(NSURLAuthenticationMethodNegotiate == "NSURLAuthenticationMethodNegotiate")
        #expect(NSURLAuthenticationMethodClientCertificate == "NSURLAuthenticationMethodClientCertificate")
        #expect(NSURLAuthenticationMethodServerTrust == "NSURLAuthenticationMethodServerTrust")
        #expect(kCFNetworkProxiesHTTPEnable == "HTTPEnable")
        #expect(kCFNetworkProxiesHTTPProxy == "HTTPProxy")
        #expect(kCFNetworkProxiesHTTPPort == "HTTPPort")
        #expect(kCFNetworkProxiesHTTPSEnable == "HTTPSEnable")
        #expect(kCFNetworkProxiesHTTPSProxy == "HTTPSProxy")
        #expect(kCFNetworkProxiesHTTPSPort == "HTTPSPort")
        #expect(kCFNetworkProxiesSOCKSEnable == "SOCKSEnable")
        #expect(kCFNetworkProxiesSOCKSProxy == "SOCKSProxy")
        #expect(kCFNetworkProxiesSOCKSPort == "SOCKSPort")
        #expect(kCFNetworkProxiesExceptionsList == "ExceptionsList")
        #expect(kCFNetworkProxiesExcludeSimpleHostnames == "ExcludeSimpleHostnames")
        #expect(kCFNetworkProxiesProxyAutoConfigEnable == "ProxyAutoConfigEnable")
        #expect(kCFNetworkProxiesProxyAutoConfigURLString == "ProxyAutoConfigURLString")
        #expect(kCFNetworkProxiesProxyAutoConfigJavaScript == "ProxyAutoConfigJavaScript")
        #expect(kCFNetworkProxiesProxyAutoDiscoveryEnable == "ProxyAutoDiscoveryEnable")
        #expect(kCFStreamPropertyHTTPProxyHost == "HTTPProxy")
        #expect(kCFStreamPropertyHTTPProxyPort == "HTTPPort")
        #expect(kCFStreamPropertyHTTPSProxyHost == "HTTPSProxy")
        #expect(kCFStreamPropertyHTTPSProxyPort == "HTTPSPort")
        #expect(kCFStreamPropertySOCKSProxyHost == "SOCKSProxy")
        #expect(kCFStreamPropertySOCKSProxyPort == "SOCKSPort")
        #expect(kCFStreamPropertySOCKSUser == "kCFStreamPropertySOCKSUser")
        #expect(kCFStreamPropertySOCKSPassword == "kCFStreamPropertySOCKSPassword")
        #expect(kCFStreamPropertySOCKSVersion == "kCFStreamPropertySOCKSVersion")
        #expect(kCFProxyUsernameKey == "kCFProxyUsernameKey")
        #expect(kCFProxyPasswordKey == "kCFProxyPasswordKey")
        #expect(kCFProxyHostNameKey == "kCFProxyHostNameKey")
        #expect(kCFProxyPortNumberKey == "kCFProxyPortNumberKey")
        #expect(kCFProxyTypeKey == "kCFProxyTypeKey")
    }
}

/// Names the API of `(global)`.
private func globalMembers() {
    let _: String = NSURLErrorNetworkUnavailableReasonKey
    let _: Int = NSURLErrorFileOutsideSafeArea
    let _: String = NSErrorFailingURLStringKey
    let _: Int64 = NSURLSessionTransferSizeUnknown
    let _: String = NSURLSessionDownloadTaskResumeData
    let _: String = NSURLSessionUploadTaskResumeData
    let _: InputStream.Type = CFReadStream.self
    let _: OutputStream.Type = CFWriteStream.self
    let _: (CFReadStream?, DispatchQueue?) -> Void = CFReadStreamSetDispatchQueue(_:_:)
    let _: (CFWriteStream?, DispatchQueue?) -> Void = CFWriteStreamSetDispatchQueue(_:_:)
    let _: () -> CFTypeID = SecTrustGetTypeID
    let _: (CFTypeRef, CFTypeRef?, UnsafeMutablePointer<SecTrust?>) -> OSStatus = SecTrustCreateWithCertificates(_:_:_:)
    let _: (SecTrust, UnsafeMutablePointer<CFError?>?) -> Bool = SecTrustEvaluateWithError(_:_:)
    let _: (SecTrust, DispatchQueue, @escaping SecTrustWithErrorCallback) -> OSStatus = SecTrustEvaluateAsyncWithError(
        _:_:_:)
    let _: ((SecTrust, Bool, CFError?) -> Void).Type = SecTrustWithErrorCallback.self
    let _: ((SecTrust, SecTrustResultType) -> Void).Type = SecTrustCallback.self
    let _: (SecTrust, UnsafeMutablePointer<SecTrustResultType>) -> OSStatus = SecTrustGetTrustResult(_:_:)
    let _: (SecTrust) -> CFDictionary? = SecTrustCopyResult(_:)
    let _: (SecTrust) -> CFIndex = SecTrustGetCertificateCount(_:)
    let _: (SecTrust) -> CFArray? = SecTrustCopyCertificateChain(_:)
    let _: (SecTrust) -> SecKey? = SecTrustCopyKey(_:)
    let _: (SecTrust, CFTypeRef) -> OSStatus = SecTrustSetPolicies(_:_:)
    let _: (SecTrust, UnsafeMutablePointer<CFArray?>) -> OSStatus = SecTrustCopyPolicies(_:_:)
    let _: (SecTrust, CFArray?) -> OSStatus = SecTrustSetAnchorCertificates(_:_:)
    let _: (SecTrust, Bool) -> OSStatus = SecTrustSetAnchorCertificatesOnly(_:_:)
    let _: (SecTrust, UnsafeMutablePointer<CFArray?>) -> OSStatus = SecTrustCopyCustomAnchorCertificates(_:_:)
    let _: (SecTrust, CFDate) -> OSStatus = SecTrustSetVerifyDate(_:_:)
    let _: (SecTrust) -> CFAbsoluteTime = SecTrustGetVerifyTime(_:)
    let _: (SecTrust, Bool) -> OSStatus = SecTrustSetNetworkFetchAllowed(_:_:)
    let _: (SecTrust, UnsafeMutablePointer<DarwinBoolean>) -> OSStatus = SecTrustGetNetworkFetchAllowed(_:_:)
    let _: (SecTrust) -> CFData? = SecTrustCopyExceptions(_:)
    let _: (SecTrust, CFData?) -> Bool = SecTrustSetExceptions(_:_:)
    let _: (SecTrust, CFTypeRef?) -> OSStatus = SecTrustSetOCSPResponse(_:_:)
    let _: (SecTrust, CFArray?) -> OSStatus = SecTrustSetSignedCertificateTimestamps(_:_:)
    let _: CFString = kSecTrustEvaluationDate
    let _: CFString = kSecTrustExtendedValidation
    let _: CFString = kSecTrustOrganizationName
    let _: CFString = kSecTrustResultValue
    let _: CFString = kSecTrustRevocationChecked
    let _: CFString = kSecTrustRevocationValidUntilDate
    let _: CFString = kSecTrustCertificateTransparency
    let _: () -> CFTypeID = SecPolicyGetTypeID
    let _: (Bool, CFString?) -> SecPolicy = SecPolicyCreateSSL(_:_:)
    let _: () -> SecPolicy = SecPolicyCreateBasicX509
    let _: (CFOptionFlags) -> SecPolicy? = SecPolicyCreateRevocation(_:)
    let _: (SecPolicy) -> CFDictionary? = SecPolicyCopyProperties(_:)
    let _: (CFTypeRef, CFDictionary?) -> SecPolicy? = SecPolicyCreateWithProperties(_:_:)
    let _: CFOptionFlags = kSecRevocationOCSPMethod
    let _: CFOptionFlags = kSecRevocationCRLMethod
    let _: CFOptionFlags = kSecRevocationPreferCRL
    let _: CFOptionFlags = kSecRevocationRequirePositiveResponse
    let _: CFOptionFlags = kSecRevocationNetworkAccessDisabled
    let _: CFOptionFlags = kSecRevocationUseAnyAvailableMethod
    let _: CFString = kSecPolicyAppleX509Basic
    let _: CFString = kSecPolicyAppleSSL
    let _: CFString = kSecPolicyAppleRevocation
    let _: CFString = kSecPolicyOid
    let _: CFString = kSecPolicyName
    let _: CFString = kSecPolicyClient
    let _: () -> CFTypeID = SecCertificateGetTypeID
    let _: (CFAllocator?, CFData) -> SecCertificate? = SecCertificateCreateWithData(_:_:)
    let _: (SecCertificate) -> CFData = SecCertificateCopyData(_:)
    let _: (SecCertificate) -> CFString? = SecCertificateCopySubjectSummary(_:)
    let _: (SecCertificate, UnsafeMutablePointer<CFString?>) -> OSStatus = SecCertificateCopyCommonName(_:_:)
    let _: (SecCertificate, UnsafeMutablePointer<CFArray?>) -> OSStatus = SecCertificateCopyEmailAddresses(_:_:)
    let _: (SecCertificate) -> CFData? = SecCertificateCopyNormalizedIssuerSequence(_:)
    let _: (SecCertificate) -> CFData? = SecCertificateCopyNormalizedSubjectSequence(_:)
    let _: (SecCertificate) -> SecKey? = SecCertificateCopyKey(_:)
    let _: (SecCertificate, UnsafeMutablePointer<Unmanaged<CFError>?>?) -> CFData? = SecCertificateCopySerialNumberData(
        _:_:)
    let _: (SecCertificate) -> CFDate? = SecCertificateCopyNotValidBeforeDate(_:)
    let _: (SecCertificate) -> CFDate? = SecCertificateCopyNotValidAfterDate(_:)
    let _: () -> CFTypeID = SecKeyGetTypeID
    let _: (SecKey, UnsafeMutablePointer<Unmanaged<CFError>?>?) -> CFData? = SecKeyCopyExternalRepresentation(_:_:)
    let _: (SecKey) -> CFDictionary? = SecKeyCopyAttributes(_:)
    let _: (SecKey) -> SecKey? = SecKeyCopyPublicKey(_:)
    let _: (SecKey) -> Int = SecKeyGetBlockSize(_:)
    let _: (CFData, CFDictionary, UnsafeMutablePointer<Unmanaged<CFError>?>?) -> SecKey? = SecKeyCreateWithData(_:_:_:)
    let _: CFString = kSecAttrKeyType
    let _: CFString = kSecAttrKeyClass
    let _: CFString = kSecAttrKeySizeInBits
    let _: CFString = kSecAttrKeyTypeRSA
    let _: CFString = kSecAttrKeyTypeEC
    let _: CFString = kSecAttrKeyTypeECSECPrimeRandom
    let _: CFString = kSecAttrKeyClassPublic
    let _: CFString = kSecAttrKeyClassPrivate
    let _: () -> CFTypeID = SecIdentityGetTypeID
    let _: (SecIdentity, UnsafeMutablePointer<SecCertificate?>) -> OSStatus = SecIdentityCopyCertificate(_:_:)
    let _: (SecIdentity, UnsafeMutablePointer<SecKey?>) -> OSStatus = SecIdentityCopyPrivateKey(_:_:)
    let _: (CFData, CFDictionary, UnsafeMutablePointer<CFArray?>) -> OSStatus = SecPKCS12Import(_:_:_:)
    let _: CFString = kSecImportExportPassphrase
    let _: CFString = kSecImportItemLabel
    let _: CFString = kSecImportItemKeyID
    let _: CFString = kSecImportItemTrust
    let _: CFString = kSecImportItemCertChain
    let _: CFString = kSecImportItemIdentity
    let _: OSStatus = errSecSuccess
    let _: OSStatus = errSecUnimplemented
    let _: OSStatus = errSecIO
    let _: OSStatus = errSecParam
    let _: OSStatus = errSecAllocate
    let _: OSStatus = errSecUserCanceled
    let _: OSStatus = errSecBadReq
    let _: OSStatus = errSecInternalComponent
    let _: OSStatus = noErr
    let _: OSStatus = errSecNotAvailable
    let _: OSStatus = errSecAuthFailed
    let _: OSStatus = errSecDuplicateItem
    let _: OSStatus = errSecItemNotFound
    let _: OSStatus = errSecInteractionNotAllowed
    let _: OSStatus = errSecCreateChainFailed
    let _: OSStatus = errSecUnsupportedFormat
    let _: OSStatus = errSecUnknownFormat
    let _: OSStatus = errSecPassphraseRequired
    let _: OSStatus = errSecNoTrustSettings
    let _: OSStatus = errSecPkcs12VerifyFailure
    let _: OSStatus = errSecNotSigner
    let _: OSStatus = errSecDecode
    let _: OSStatus = errSecHostNameMismatch
    let _: OSStatus = errSecUnknownCriticalExtensionFlag
    let _: OSStatus = errSecNoBasicConstraints
    let _: OSStatus = errSecNoBasicConstraintsCA
    let _: OSStatus = errSecInvalidKeyUsageForPolicy
    let _: OSStatus = errSecInvalidExtendedKeyUsage
    let _: OSStatus = errSecPathLengthConstraintExceeded
    let _: OSStatus = errSecInvalidRoot
    let _: OSStatus = errSecSSLBadExtendedKeyUsage
    let _: OSStatus = errSecIncompleteCertRevocationCheck
    let _: OSStatus = errSecNetworkFailure
    let _: OSStatus = errSecCertificateExpired
    let _: OSStatus = errSecCertificateNotValidYet
    let _: OSStatus = errSecCertificateRevoked
    let _: OSStatus = errSecInvalidCertAuthority
    let _: OSStatus = errSecNotTrusted
    let _: (OSStatus, UnsafeMutableRawPointer?) -> CFString? = SecCopyErrorMessageString(_:_:)
    let _: (CFError?) -> CFIndex = CFErrorGetCode(_:)
    let _: (CFError?) -> CFString = CFErrorGetDomain(_:)
    let _: (CFError?) -> CFString = CFErrorCopyDescription(_:)
    let _: (CFError?) -> CFDictionary = CFErrorCopyUserInfo(_:)
    let _: (CFTypeRef?) -> CFTypeID = CFGetTypeID(_:)
    let _: (CFArray?) -> CFIndex = CFArrayGetCount(_:)
    let _: (CFData?) -> CFIndex = CFDataGetLength(_:)
    let _: CFAllocator? = kCFAllocatorDefault
    let _: CFBoolean = kCFBooleanTrue
    let _: CFBoolean = kCFBooleanFalse
    let _: NSArray.Type = CFArray.self
    let _: NSString.Type = CFString.self
    let _: NSData.Type = CFData.self
    let _: NSDictionary.Type = CFDictionary.self
    let _: NSDate.Type = CFDate.self
    let _: NSError.Type = CFError.self
    let _: AnyObject.Type = CFTypeRef.self
    let _: NSNumber.Type = CFNumber.self
    let _: NSNumber.Type = CFBoolean.self
    let _: Int.Type = CFIndex.self
    let _: UInt.Type = CFOptionFlags.self
    let _: UInt.Type = CFTypeID.self
    let _: Double.Type = CFAbsoluteTime.self
    let _: AnyObject.Type = CFAllocator.self
    let _: Int32.Type = OSStatus.self
    let _: ObjCBool.Type = DarwinBoolean.self
    let _: DispatchQueue.Type = dispatch_queue_t.self
    let _: String = NSURLCredentialStorageRemoveSynchronizableCredentials
    let _: String = NSURLAuthenticationMethodDefault
    let _: String = NSURLAuthenticationMethodHTTPBasic
    let _: String = NSURLAuthenticationMethodHTTPDigest
    let _: String = NSURLAuthenticationMethodHTMLForm
    let _: String = NSURLAuthenticationMethodNTLM
    let _: String = NSURLAuthenticationMethodNegotiate
    let _: String = NSURLAuthenticationMethodClientCertificate
    let _: String = NSURLAuthenticationMethodServerTrust
    let _: String = NSURLProtectionSpaceHTTP
    let _: String = NSURLProtectionSpaceHTTPS
    let _: String = NSURLProtectionSpaceFTP
    let _: String = NSURLProtectionSpaceHTTPProxy
    let _: String = NSURLProtectionSpaceHTTPSProxy
    let _: String = NSURLProtectionSpaceFTPProxy
    let _: String = NSURLProtectionSpaceSOCKSProxy
    let _: CFString = kCFNetworkProxiesHTTPEnable
    let _: CFString = kCFNetworkProxiesHTTPProxy
    let _: CFString = kCFNetworkProxiesHTTPPort
    let _: CFString = kCFNetworkProxiesHTTPSEnable
    let _: CFString = kCFNetworkProxiesHTTPSProxy
    let _: CFString = kCFNetworkProxiesHTTPSPort
    let _: CFString = kCFNetworkProxiesSOCKSEnable
    let _: CFString = kCFNetworkProxiesSOCKSProxy
    let _: CFString = kCFNetworkProxiesSOCKSPort
    let _: CFString = kCFNetworkProxiesExceptionsList
    let _: CFString = kCFNetworkProxiesExcludeSimpleHostnames
    let _: CFString = kCFNetworkProxiesProxyAutoConfigEnable
    let _: CFString = kCFNetworkProxiesProxyAutoConfigURLString
    let _: CFString = kCFNetworkProxiesProxyAutoConfigJavaScript
    let _: CFString = kCFNetworkProxiesProxyAutoDiscoveryEnable
    let _: CFString = kCFStreamPropertyHTTPProxyHost
    let _: CFString = kCFStreamPropertyHTTPProxyPort
    let _: CFString = kCFStreamPropertyHTTPSProxyHost
    let _: CFString = kCFStreamPropertyHTTPSProxyPort
    let _: CFString = kCFStreamPropertySOCKSProxyHost
    let _: CFString = kCFStreamPropertySOCKSProxyPort
    let _: CFString = kCFStreamPropertySOCKSUser
    let _: CFString = kCFStreamPropertySOCKSPassword
    let _: CFString = kCFStreamPropertySOCKSVersion
    let _: CFString = kCFProxyUsernameKey
    let _: CFString = kCFProxyPasswordKey
    let _: CFString = kCFProxyHostNameKey
    let _: CFString = kCFProxyPortNumberKey
    let _: CFString = kCFProxyTypeKey
}

/// Names, as far as it is deprecated, the API of `(global)`.
@available(*, deprecated)
private func globalDeprecatedmembers() {
    let _: (SecTrust, UnsafeMutablePointer<SecTrustResultType>) -> OSStatus = SecTrustEvaluate(_:_:)
    let _: (SecTrust, DispatchQueue?, @escaping SecTrustCallback) -> OSStatus = SecTrustEvaluateAsync(_:_:_:)
    let _: (SecTrust) -> CFArray? = SecTrustCopyProperties(_:)
    let _: (SecTrust, CFIndex) -> SecCertificate? = SecTrustGetCertificateAtIndex(_:_:)
    let _: (SecTrust) -> SecKey? = SecTrustCopyPublicKey(_:)
    let _: (SecCertificate) -> SecKey? = SecCertificateCopyPublicKey(_:)
    let _: (SecCertificate) -> CFData? = SecCertificateCopySerialNumber(_:)
}
