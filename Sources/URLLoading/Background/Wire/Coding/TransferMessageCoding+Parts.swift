// The forms in bytes of what only messages have: greetings, refusals, orders; and of settings, which are kept as well.

import URLLoadingPolicy

extension TransferHello: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(version)
        writer.value(judgesServers)
        writer.value(answersChallenges)
        writer.value(settings)
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        version = try reader.value()
        // Order: what follows is understood only in one language. A program that speaks another is told so, and that is
        // the same in all.
        guard version == TransferLimits.version else {
            reader.skipRest()
            (judgesServers, answersChallenges) = (false, false)
            settings = TransferSettings(identifier: "")
            return
        }
        judgesServers = try reader.value()
        answersChallenges = try reader.value()
        settings = try reader.value()
    }
}

extension TransferRefusal: TransferCoded {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .inUse: writer.number(UInt8(1))
        case .version(let version):
            writer.number(UInt8(2))
            writer.value(version)
        case .otherSession: writer.number(UInt8(3))
        case .ending: writer.number(UInt8(4))
        case .unintelligible(let text):
            writer.number(UInt8(5))
            writer.value(text)
        }
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        switch try reader.number(UInt8.self) {
        case 1: self = .inUse
        case 2: self = .version(try reader.value())
        case 3: self = .otherSession
        case 4: self = .ending
        case 5: self = .unintelligible(try reader.value())
        default: throw .impossible
        }
    }
}

extension TransferOrder: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(task)
        writer.value(kind)
        writer.value(original)
        writer.value(current)
        writer.value(source)
        writer.value(label)
        writer.value(earliestBegin)
        writer.value(expectedBySender)
        writer.value(expectedByReceiver)
        writer.value(priority)
        writer.value(resumption.coded)
        writer.value(awaitsDelegate)
        writer.value(isSuspended)
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        task = try reader.value()
        kind = try reader.value()
        original = try reader.value()
        current = try reader.value()
        source = try reader.value()
        label = try reader.value()
        earliestBegin = try reader.value()
        expectedBySender = try reader.value()
        expectedByReceiver = try reader.value()
        priority = try reader.value()
        resumption = try reader.value(TransferBytes?.self)?.bytes
        awaitsDelegate = try reader.value()
        isSuspended = try reader.value()
        guard task <= UInt64(Int64.max), (kind == .upload) == (source != nil), source?.hasPrefix("/") ?? true else {
            throw .impossible
        }
    }
}

extension TransferSettings: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(identifier)
        writer.value(additionalFields)
        writer.value(requestTimeout)
        writer.value(resourceTimeout)
        writer.value(cachePolicy)
        writer.value(tlsMinimum)
        writer.value(tlsMaximum)
        writer.value(connectionsPerHost)
        writer.number(http2)
        writer.value(transfersAtATime)
        writer.value(isDiscretionary)
        writer.value(sendsLaunchEvents)
        writer.value(hook)
        writer.value(requiresDNSSEC)
        writer.number(resumableUploads)
        writer.value(proxies)
        writer.value(proxyEnvironment)
        writer.value(hostOverrides)
        writer.value(unixSocketPath)
        writer.value(localAddress)
        writer.value(networkInterface)
        writer.value(tlsKeyLogFile)
        writer.value(trust)
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        identifier = try reader.value()
        additionalFields = try reader.value()
        requestTimeout = try reader.value()
        resourceTimeout = try reader.value()
        cachePolicy = try reader.value()
        tlsMinimum = try reader.value()
        tlsMaximum = try reader.value()
        connectionsPerHost = try reader.value()
        http2 = try reader.number()
        transfersAtATime = try reader.value()
        isDiscretionary = try reader.value()
        sendsLaunchEvents = try reader.value()
        hook = try reader.value()
        requiresDNSSEC = try reader.value()
        resumableUploads = try reader.number()
        proxies = try reader.value()
        proxyEnvironment = try reader.value()
        hostOverrides = try reader.value()
        unixSocketPath = try reader.value()
        localAddress = try reader.value()
        networkInterface = try reader.value()
        tlsKeyLogFile = try reader.value()
        trust = try reader.value()
        guard resumableUploads <= 2, http2 <= 2, hook.allSatisfy({ !$0.utf8.contains(0) }) else { throw .impossible }
    }
}

extension TransferSettings.Proxy: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(key)
        switch value {
        case .number(let number):
            writer.number(UInt8(1))
            writer.value(number)
        case .text(let text):
            writer.number(UInt8(2))
            writer.value(text)
        case .list(let texts):
            writer.number(UInt8(3))
            writer.value(texts)
        }
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        key = try reader.value()
        switch try reader.number(UInt8.self) {
        case 1: value = .number(try reader.value())
        case 2: value = .text(try reader.value())
        case 3: value = .list(try reader.value())
        default: throw .impossible
        }
    }
}

extension TransferSettings.Trust {
    /// Whether it is read as it is written: choices may be nested deeper than a reader goes.
    var isReadable: Bool {
        var writer = ByteWriter(capacity: 256)
        writer.value(self)
        do throws(TransferCodingError) {
            let read: Self = try wholeValue(writer.bytes)
            return read == self
        } catch {
            return false
        }
    }
}

extension TransferSettings.Trust: TransferCoded {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .system: writer.number(UInt8(1))
        case .anchors(let certificates, let alsoSystem):
            writer.number(UInt8(2))
            writer.value(certificates.coded)
            writer.value(alsoSystem)
        case .pinnedCertificates(let certificates, let base):
            writer.number(UInt8(3))
            writer.value(certificates.coded)
            writer.value(base)
        case .pinnedKeys(let pins, let base):
            writer.number(UInt8(4))
            writer.value(pins)
            writer.value(base)
        case .selfSigned(let certificate, let host, let others):
            writer.number(UInt8(5))
            writer.run(certificate)
            writer.value(host)
            writer.value(others)
        case .anyOf(let choices):
            writer.number(UInt8(6))
            writer.value(choices)
        case .allOf(let choices):
            writer.number(UInt8(7))
            writer.value(choices)
        case .knownHosts(let path):
            writer.number(UInt8(8))
            writer.value(path)
        case .perHost(let hosts, let others):
            writer.number(UInt8(9))
            writer.value(hosts)
            writer.value(others)
        case .anyCertificate: writer.number(UInt8(10))
        }
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        self = try reader.deeper { (reader) throws(TransferCodingError) in
            switch try reader.number(UInt8.self) {
            case 1: .system
            case 2:
                .anchors(try reader.value([TransferBytes].self).map(\.bytes), alsoSystem: try reader.value())
            case 3: .pinnedCertificates(try reader.value([TransferBytes].self).map(\.bytes), try reader.value())
            case 4: .pinnedKeys(try reader.value(), try reader.value())
            case 5: .selfSigned(try reader.run(), host: try reader.value(), try reader.value())
            case 6: .anyOf(try reader.value())
            case 7: .allOf(try reader.value())
            case 8: .knownHosts(try reader.value())
            case 9: .perHost(try reader.value(), try reader.value())
            case 10: .anyCertificate
            default: throw TransferCodingError.impossible
            }
        }
    }
}

extension TransferSettings.Trust.Host: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(pattern)
        writer.value(choice)
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        pattern = try reader.value()
        choice = try reader.value()
    }
}
