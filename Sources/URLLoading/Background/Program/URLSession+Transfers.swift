// The attempts of an owner as tasks of its session: with the request as it was kept, secrets and all, and going on
// where the last attempt ended. Tasks that programs make from resume data prove their credentials anew; these need not.
//
// Must not know: journals.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

extension URLSession {
    /// A task for one attempt; nil where the request cannot be made.
    func makeAttempt(at record: TransferRecord) -> URLSessionTask? {
        guard let request = record.original.urlRequest else { return nil }
        switch record.kind {
        case .data: return dataTask(with: request)
        case .download: return makeDownloadTask(request, continuing: record.resumption.flatMap { ResumeData(Data($0)) })
        case .upload:
            guard let path = record.source else { return nil }
            if let data = record.resumption, case (let upload, _) = ResumedUpload.read(Data(data)),
                upload.usableData != nil
            {
                return makeUploadTask(request, body: .resuming(upload))
            }
            return uploadTask(with: request, fromFile: URL(fileURLWithPath: path))
        }
    }
}

extension TaskDownload {
    /// Where a download that is under way could go on if everything stopped now, the disk
    /// included; nil where it could not.
    func checkpoint(written: Int64) -> ResumeData? {
        let (request, validator, total, file) = task.state.withLock { state in
            let download = state.download
            return (state.originalRequest, download?.validator, download?.total, download?.writing)
        }
        guard written > 0, let request, let validator, let file else { return nil }
        let naming = FileNaming.downloads
        if !naming.isPartial(file.url.lastPathComponent),
            file.rename(prefix: naming.prefix, suffix: naming.partialSuffix) != nil
        {
            return nil
        }
        // Order: the disk has the bytes before they are counted.
        guard file.synchronise() == nil else { return nil }
        return ResumeData(
            request: request, byteCount: written, total: total, validator: validator,
            fileName: file.url.lastPathComponent)
    }
}

extension ResumeData {
    /// A copy that counts the bytes that are in the file, whose writing process has died; nil where
    /// that count cannot be right.
    ///
    /// After the machine itself has stopped only what the disk had for certain counts.
    func catchingUp(in folder: String, afterCrash machineStopped: Bool) -> ResumeData? {
        guard case .success(let file) = OpenFile.open(path: folder + "/" + fileName), file.byteCount >= byteCount else {
            return nil
        }
        if machineStopped { return self }
        return ResumeData(
            request: request, byteCount: file.byteCount, total: total, validator: validator, fileName: fileName)
    }
}
