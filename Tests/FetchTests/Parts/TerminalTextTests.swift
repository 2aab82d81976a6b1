// What people see: text of others made harmless, quantities, lines of progress, a password that is typed.

import Testing
import URLLoadingFetch

@Suite("fetch: text on terminals")
struct TerminalTextTests {
    @Test("Control characters, separators and changes of direction are spelled out; other text stays")
    func visible() {
        #expect(VisibleText.of("plain ä 漢 👍") == "plain ä 漢 👍")
        #expect(VisibleText.of("\u{1B}]0;title\u{07}") == "\\x1b]0;title\\x07")
        #expect(VisibleText.of("a\r\nb\tc\u{7F}\u{9B}2J") == "a\\r\\nb\\tc\\x7f\\x9b2J")
        #expect(
            VisibleText.of("\u{202E}gpj.exe\u{2066}\u{2028}\u{FEFF}") == "\\u{202e}gpj.exe\\u{2066}\\u{2028}\\u{feff}")
        for value in UInt32(0)..<0xA0 where value < 0x20 || value >= 0x7F {
            let text = Unicode.Scalar(value).map { VisibleText.of(String(Character($0))) } ?? ""
            #expect(text.hasPrefix("\\"))
        }
    }

    @Test("Bytes, rates and times as people read them")
    func quantities() {
        #expect(
            [0, 999, 1000, 1499, 9949, 9950, 999_499, 999_500, 12_000_000].map(QuantityText.bytes)
                == ["0 B", "999 B", "1.0 kB", "1.5 kB", "9.9 kB", "10 kB", "999 kB", "1.0 MB", "12 MB"])
        #expect(QuantityText.bytes(.max) == "9223 PB" && QuantityText.bytes(-5) == "0 B")
        #expect(QuantityText.perSecond(1001, in: 2) == 500 && QuantityText.perSecond(1, in: 0) == 0)
        #expect(QuantityText.perSecond(.max, in: 1e-300) == .max && QuantityText.perSecond(.max, in: 1) == .max)
        #expect(QuantityText.perSecond(1, in: -1) == 0 && QuantityText.perSecond(1, in: .nan) == 0)
        #expect(QuantityText.rate(1500) == "1.5 kB/s" && QuantityText.rate(.infinity) == "-- B/s")
        #expect(
            [nil, 0, 6.2, 754, 3723, .nan, 1e9].map(QuantityText.time)
                == ["--:--", "0:00", "0:07", "12:34", "1:02:03", "--:--", "--:--"])
        #expect(QuantityText.duration(0.0123) == "12.3 ms" && QuantityText.duration(1.234) == "1.23 s")
    }

    @Test("Widths count columns, and text is cut or padded to them")
    func widths() {
        #expect(TextWidth.columns("漢字") == 4 && TextWidth.columns("e\u{301}") == 1)
        #expect(TextWidth.fit("name", 6) == "name  " && TextWidth.fit("long name", 5) == "long…")
        #expect(TextWidth.fit("漢字漢", 4) == "漢… " && TextWidth.fit("x", 0) == "")
    }

    private func figures(_ name: String, _ done: Int64, _ total: Int64?, _ rate: Double) -> ProgressFigures {
        var figures = ProgressFigures(name: name)
        figures.done = done
        figures.total = total
        figures.rate = rate
        return figures
    }

    @Test("A line has name, bar, share, bytes, rate and time left, and is never wider than the terminal")
    func bar() {
        let half = figures("disk.img", 500_000, 1_000_000, 100_000)
        #expect(
            ProgressLine.bar(half, width: 80)
                == "disk.img [========>        ]   50%  500 kB of 1.0 MB   100 kB/s   0:05")
        #expect(ProgressLine.bar(half, width: 52) == "disk.img   50%  500 kB of 1.0 MB   100 kB/s   0:05")
        let unknown = figures("stream", 1500, nil, 0)
        #expect(ProgressLine.bar(unknown, width: 80).contains("[????") && unknown.timeLeft == nil)
        let hostile = figures("\u{1B}[2J" + String(repeating: "漢", count: 300), 7, 5, 1)
        for width in 0...200 {
            for figures in [half, unknown, hostile] {
                let line = ProgressLine.bar(figures, width: width)
                #expect(TextWidth.columns(line) <= width && !line.unicodeScalars.contains("\u{1B}"))
            }
        }
        #expect(hostile.share == 1)
    }

    @Test("Off terminals a line is a sentence")
    func plain() {
        #expect(ProgressLine.plain(figures("a\nb", 250, 1000, 50)) == "a\\nb: 250 B of 1.0 kB (25%), 50 B/s, 0:15 left")
        var upload = figures("up", 10, nil, 0)
        upload.isUpload = true
        #expect(ProgressLine.plain(upload) == "up: sent 10 B, 0 B/s, --:-- left")
    }

    @Test("A rate is of the last seconds, falls where nothing comes, and costs no memory")
    func rate() {
        var meter = RateMeter()
        #expect(meter.rate(at: 0) == 0)
        for step in 0...100 { meter.note(Int64(step) * 100, at: Double(step) / 10) }
        #expect(abs(meter.rate(at: 10) - 1000) < 1)
        #expect(meter.rate(at: 20) < 400)
        meter = RateMeter()
        for step in 0...10_000 { meter.note(Int64(step), at: Double(step) / 1000) }
        #expect(abs(meter.rate(at: 10) - 1000) < 20)
    }

    @Test("A password is what was typed, with its corrections")
    func password() {
        func type(_ text: String) -> PasswordLine.Step {
            var line = PasswordLine()
            for byte in text.utf8 {
                let step = line.take(byte)
                if step != .more { return step }
            }
            return .more
        }
        #expect(type("secret\n") == .done("secret") && type("\r") == .done("") && type("abc") == .more)
        #expect(type("ax\u{7F}bä\u{08}c\n") == .done("abc") && type("wrong\u{15}right\n") == .done("right"))
        #expect(type("abc\u{03}") == .brokenOff && type("\u{04}") == .brokenOff && type("abc\u{04}") == .done("abc"))
        #expect(type("\u{7F}\u{1B}a\n") == .done("a"))
    }
}
