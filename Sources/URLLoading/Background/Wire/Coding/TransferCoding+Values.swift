// The forms in bytes of what journals and messages have in common: requests, responses, failures, questions.
// The order of the parts is the format; a change of it counts up `TransferLimits.version`, and
// `recordVersion` where journals have it.

import URLLoadingPolicy

extension TransferField: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(name)
        writer.value(value)
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        name = try reader.value()
        value = try reader.value()
    }
}

extension TransferRequest: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(method)
        writer.value(url)
        writer.value(fields)
        writer.value(body.coded)
        writer.value(timeout)
        writer.value(cachePolicy)
        // A bit that says that limits follow: a request without them has the form of before.
        writer.value(limitsDecoding ? flags | Self.limitsFollow : flags & ~Self.limitsFollow)
        writer.value(unixSocketPath)
        writer.value(mainDocumentURL)
        if limitsDecoding {
            writer.value(maximumDecodedBytes)
            writer.value(maximumDecodedRatio)
        }
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        method = try reader.value()
        url = try reader.value()
        fields = try reader.value()
        body = try reader.value(TransferBytes?.self)?.bytes
        timeout = try reader.value()
        cachePolicy = try reader.value()
        flags = try reader.value()
        unixSocketPath = try reader.value()
        mainDocumentURL = try reader.value()
        guard flags & Self.limitsFollow != 0 else { return }
        flags &= ~Self.limitsFollow
        maximumDecodedBytes = try reader.value()
        maximumDecodedRatio = try reader.value()
        guard limitsDecoding else { throw .impossible }
    }

    private static let limitsFollow: UInt32 = 1 << 31
}

extension TransferHead: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(url)
        // A bit that says that more follows: a plain head has the form of before.
        writer.value(isExtended ? status | Self.moreFollows : status)
        writer.value(fields)
        writer.value(expectedLength)
        if isExtended {
            writer.number(version)
            writer.value(reason)
            writer.value(trailers)
        }
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        url = try reader.value()
        status = try reader.value()
        fields = try reader.value()
        expectedLength = try reader.value()
        let hasMore = status & Self.moreFollows != 0
        status &= ~Self.moreFollows
        guard status <= 999, expectedLength >= -1 else { throw .impossible }
        guard hasMore else { return }
        version = try reader.number()
        reason = try reader.value()
        trailers = try reader.value()
        guard isExtended, (10...20).contains(version) else { throw .impossible }
    }

    private static let moreFollows: UInt16 = 1 << 15
}

extension TransferCounts: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(received)
        writer.value(expectedToReceive)
        writer.value(sent)
        writer.value(expectedToSend)
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        received = try reader.value()
        expectedToReceive = try reader.value()
        sent = try reader.value()
        expectedToSend = try reader.value()
        guard received >= 0, sent >= 0, expectedToReceive >= -1, expectedToSend >= -1 else { throw .impossible }
    }
}

extension TransferFailure: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(domain)
        writer.value(code)
        writer.value(text)
        writer.value(url)
        writer.value(cancellationReason)
        writer.value(networkReason)
        writer.value(resumeData.coded)
        writer.value(causes)
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        domain = try reader.value()
        code = try reader.value()
        text = try reader.value()
        url = try reader.value()
        cancellationReason = try reader.value()
        networkReason = try reader.value()
        resumeData = try reader.value(TransferBytes?.self)?.bytes
        causes = try reader.value()
    }
}

extension TransferFailure.Cause: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(domain)
        writer.value(code)
        writer.value(text)
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        domain = try reader.value()
        code = try reader.value()
        text = try reader.value()
    }
}

extension TransferChallenge: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(number)
        // What was stapled stands where issuers do, of which there are none about a server: what was written
        // before knew no stapling and has nothing there, and a reader that knows none looks at nothing there. So
        // the form is the old one.
        var space = space
        if space.isAboutServer { space.distinguishedNames = stapling.listed }
        // One empty issuer in a question about a password, which has none either, says that a socket leads to the
        // server.
        if isBehindSocket { space.distinguishedNames = [[]] }
        writer.value(space)
        writer.value(failures)
        writer.value(head)
        // A list of one empty certificate says that the owner takes a password for one task. A question about a
        // password has no certificates, so a reader that does not know this looks past it.
        writer.value((takesOnce ? [[]] : certificates).coded)
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        number = try reader.value()
        space = try reader.value()
        failures = try reader.value()
        head = try reader.value()
        certificates = try reader.value([TransferBytes].self).map(\.bytes)
        guard space.isAboutServer else {
            takesOnce = certificates == [[]]
            if takesOnce { certificates = [] }
            isBehindSocket = space.takesPassword && space.distinguishedNames == [[]]
            if isBehindSocket { space.distinguishedNames = [] }
            return
        }
        stapling = try TransferStapling(listed: exchange(&space.distinguishedNames, with: []))
    }
}

extension TransferStapling {
    /// Nothing where it is not known, else the response, which is empty where none was sent.
    fileprivate var listed: [[UInt8]] {
        switch self {
        case .unknown: []
        case .absent: [[]]
        case .response(let der): [der]
        }
    }

    fileprivate init(listed: [[UInt8]]) throws(TransferCodingError) {
        guard let response = listed.first else {
            self = .unknown
            return
        }
        guard listed.count == 1 else { throw .impossible }
        self = response.isEmpty ? .absent : .response(response)
    }
}

extension TransferSpace: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(host)
        writer.value(port)
        writer.value(scheme)
        writer.value(realm)
        writer.value(method)
        writer.value(isProxy)
        writer.value(proxyType)
        writer.value(distinguishedNames.coded)
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        host = try reader.value()
        port = try reader.value()
        scheme = try reader.value()
        realm = try reader.value()
        method = try reader.value()
        isProxy = try reader.value()
        proxyType = try reader.value()
        distinguishedNames = try reader.value([TransferBytes].self).map(\.bytes)
        guard (0...65_535).contains(port) else { throw .impossible }
    }
}

extension TransferAnswer: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(task)
        writer.value(challenge)
        writer.number(disposition.rawValue)
        writer.value(credential)
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        task = try reader.value()
        challenge = try reader.value()
        guard let disposition = Disposition(rawValue: try reader.number()) else { throw .impossible }
        self.disposition = disposition
        credential = try reader.value()
    }
}

extension TransferCredential: TransferCoded {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .password(let user, let password):
            writer.number(UInt8(1))
            writer.value(user)
            writer.value(password)
        case .trust: writer.number(UInt8(2))
        case .identity(let certificates, let key):
            writer.number(UInt8(3))
            writer.value(certificates)
            writer.value(key)
        case .passwordOnce(let user, let password):
            writer.number(UInt8(4))
            writer.value(user)
            writer.value(password)
        }
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        switch try reader.number(UInt8.self) {
        case 1: self = .password(user: try reader.value(), password: try reader.value())
        case 2: self = .trust
        case 3: self = .identity(certificates: try reader.value(), key: try reader.value())
        case 4: self = .passwordOnce(user: try reader.value(), password: try reader.value())
        default: throw .impossible
        }
    }
}

extension TransferKind: TransferCoded {
    func write(to writer: inout ByteWriter) { writer.number(rawValue) }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        guard let kind = TransferKind(rawValue: try reader.number()) else { throw .impossible }
        self = kind
    }
}

extension TransferNews: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(number)
        switch content {
        case .downloaded(let path):
            writer.number(UInt8(1))
            writer.value(path)
        case .answered(let path):
            writer.number(UInt8(2))
            writer.value(path)
        case .completed(let failure):
            writer.number(UInt8(3))
            writer.value(failure)
        case .measured(let measures):
            writer.number(UInt8(4))
            writer.value(measures)
        }
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        number = try reader.value()
        switch try reader.number(UInt8.self) {
        case 1: content = .downloaded(path: try reader.value())
        case 2: content = .answered(path: try reader.value())
        case 3: content = .completed(try reader.value())
        case 4: content = .measured(try reader.value())
        default: throw .impossible
        }
    }
}

extension TransferSummary: TransferCoded {
    func write(to writer: inout ByteWriter) {
        writer.value(task)
        writer.value(kind)
        writer.value(redirect)
        writer.value(keepsBody)
        writer.value(label)
        writer.value(earliestBegin)
        writer.value(expectedBySender)
        writer.value(expectedByReceiver)
        writer.value(priority)
        writer.value(isSuspended)
        writer.value(isOver)
        writer.value(counts)
        writer.value(head)
        writer.value(created)
    }

    init(from reader: inout TransferReader) throws(TransferCodingError) {
        task = try reader.value()
        kind = try reader.value()
        redirect = try reader.value()
        keepsBody = try reader.value()
        label = try reader.value()
        earliestBegin = try reader.value()
        expectedBySender = try reader.value()
        expectedByReceiver = try reader.value()
        priority = try reader.value()
        isSuspended = try reader.value()
        isOver = try reader.value()
        counts = try reader.value()
        head = try reader.value()
        created = try reader.value()
    }
}
