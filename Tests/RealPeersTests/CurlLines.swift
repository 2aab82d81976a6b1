// Lines of the shell as scripts for curl have them, each run with both commands in a folder of its own: what is
// written, the files that are left and the exit code must be the same.

import Testing

/// A line in which `$C` is the command, `$U` the server's URL and `$P` its port. The folder holds the files that
/// `CurlLinesTests` puts there.
struct CurlLine: Sendable, CustomTestStringConvertible {
    let text: String
    /// Whether it is the same in any version of HTTP.
    var isHTTP1Only = false

    var testDescription: String { text }

    private static func lines(_ text: String, http1: Bool = false) -> [CurlLine] {
        text.split(separator: "\n").map { CurlLine(text: String($0), isHTTP1Only: http1) }
    }

    static let all =
        lines(bodies) + lines(fields) + lines(files) + lines(urls) + lines(answers) + lines(way) + lines(writeOut)
        + lines(http1, http1: true)

    private static let bodies = """
        $C -s -d a=b $U/echo
        $C -s -d a=b -d c=d $U/echo
        $C -s -d @text $U/echo
        $C -s -d 'a=b&c' -X PUT $U/echo
        $C -s -d '' $U/echo
        $C -s --data-ascii @lines $U/echo
        $C -s --data-binary @lines $U/echo
        $C -s --data-binary @lines -H 'Content-Type: text/x' $U/echo
        $C -s --data-raw @lines $U/echo
        $C -s --data-raw a -d b $U/echo
        $C -s --data-urlencode 'a b&c' $U/echo
        $C -s --data-urlencode 'name=a b&c=d' $U/echo
        $C -s --data-urlencode '=a=b' $U/echo
        $C -s --data-urlencode @lines $U/echo
        $C -s --data-urlencode name@lines $U/echo
        $C -s --data-urlencode 'ä/~-._!*' $U/echo
        $C -s -d x --data-urlencode 'y=z z' $U/echo
        printf 'from here' | $C -s -d @- $U/echo
        printf 'from here' | $C -s --data-binary @- $U/echo
        printf 'from here' | $C -s --data-urlencode n@- $U/echo
        $C -s --json '{"a":1}' $U/echo
        $C -s --json '{"a"' --json ':1}' $U/echo
        $C -s --json @text $U/echo
        $C -s --json '{}' -H 'Accept: x/y' $U/echo
        $C -s -F a=b $U/echo
        $C -s -F a=b -F c=d $U/echo
        $C -s -F a=@text $U/echo
        $C -s -F 'a=@text;type=x/y;filename=other' $U/echo
        $C -s -F 'a=<text' $U/echo
        $C -s -F 'a=b;type=x/y' $U/echo
        $C -s --form-string 'a=@text;type=x' $U/echo
        $C -s -F 'a="b;c"' $U/echo
        $C -s -T text $U/echo
        $C -s -T text $U/echo/
        printf 'from here' | $C -s -T - $U/echo
        $C -s -G -d a=b -d c=d $U/echo
        $C -s -G -d a=b "$U/echo?x=y"
        $C -s -G --data-urlencode 'a=b c' $U/echo
        $C -s -G -d a=b -I $U/echo | tr -d '\\r'
        $C -s --url-query 'a=b c' $U/echo
        $C -s --url-query a=b "$U/echo?x"
        $C -s --url-query +a=%20 $U/echo
        $C -s --url-query @text $U/echo
        $C -s --url-query a=b --url-query c=d -d e $U/echo
        $C -s -F a=@missing $U/echo
        $C -s -T missing $U/echo
        """

    private static let fields = """
        $C -s -H 'X-One: 1' $U/echo
        $C -s -H 'X-One: 1' -H 'X-Two: 2' $U/echo
        $C -s -H 'X-Empty;' $U/echo
        $C -s -H 'X-One:1' $U/echo
        $C -s -A me $U/echo
        $C -s -A me -A you $U/echo
        $C -s -e http://from/ $U/echo
        $C -s -r 0-4 $U/echo
        $C -s -r -5 $U/echo
        $C -s -r 0-1,3-4 $U/echo
        $C -s -X DELETE $U/echo
        $C -s -X lower $U/echo
        $C -s -I $U/page | tr -d '\\r'
        $C -sI $U/missing | tr -d '\\r'
        $C -s -u me:secret $U/private
        $C -s -u me:wrong $U/private
        $C -s -u me:wrong -f $U/private
        $C -s --basic -u me:secret $U/private
        $C -s --basic -u me:secret $U/echo
        $C -s --digest -u me:secret $U/digest
        $C -s --digest -u me:wrong $U/digest
        $C -s --digest -u me:secret $U/private
        $C -s --anyauth -u me:secret $U/private
        $C -s --anyauth -u me:secret $U/digest
        $C -s --oauth2-bearer tok $U/echo
        $C -s --netrc-file netrc $U/private
        $C -s --netrc-file netrc $U/page
        $C -s --netrc-optional $U/page
        $C -s -b a=b $U/echo
        $C -s -b 'a=b; c=d' $U/echo
        $C -s -b jar $U/echo
        $C -s -j -b jar $U/echo
        $C -s -b nojar $U/echo
        $C -s -c out $U/cookie && grep -v '^# \\|^#$\\|^$' out | cut -f 1-4,6-7
        $C -s -b jar -c out $U/cookie && grep -v '^# \\|^#$\\|^$' out | cut -f 1-4,6-7 | sort
        $C -s -c out -b jar -L $U/cookies && grep -v '^# \\|^#$\\|^$' out | sort
        $C -s -z 'Thu, 02 Jan 2020 03:04:05 GMT' $U/echo
        $C -s -z '-2 Jan 2020' $U/echo
        $C -s -z text $U/echo
        $C -s -z 20200102 $U/echo
        $C -s --etag-compare tag $U/echo
        $C -s --etag-save out $U/page && cat out
        $C -s --etag-save tag --etag-compare tag $U/tagged; cat tag
        $C -s -o out --etag-compare tag $U/tagged; ls
        $C -s --compressed $U/compressed
        $C -s --compressed $U/page
        """

    private static let files = """
        $C -s -o out $U/page; cat out
        $C -s -o out $U/empty; ls
        $C -s -o out $U/missing; cat out
        $C -s -f -o out $U/missing; ls
        $C -s -o - $U/page
        $C -s -O $U/page; cat page
        $C -s -O $U/deep/er/file; cat file
        $C -s -O "$U/page?query"; cat page
        $C -s -O $U/ ; ls
        $C -s -OJ $U/named; cat given
        $C -s -J -O $U/page; cat page
        $C -s -O $U/page -O $U/other; cat page other
        $C -s --remote-name-all $U/page $U/other; cat page other
        $C -s -o a -o b $U/page $U/other; cat a b
        $C -s -o a $U/page -O $U/other; cat a other
        $C -s -o a $U/page $U/other; cat a
        $C -s --output-dir folder -o out $U/page; cat folder/out
        $C -s --output-dir folder -O $U/page; cat folder/page
        $C -s --output-dir no/such --create-dirs -O $U/page; cat no/such/page
        $C -s --output-dir nosuch -O $U/page; ls
        $C -s --create-dirs -o x/y/z $U/page; cat x/y/z
        $C -s -o x/y/z $U/page; ls
        $C -s --no-clobber -o text $U/page; cat text text.1
        $C -s --no-clobber -o new $U/page; cat new
        $C -s -R -o out $U/dated; stat -c %Y out
        $C -s -R -O $U/dated; stat -c %Y dated
        $C -s -D out $U/page; tr -d '\\r' < out
        $C -s -D - $U/page | tr -d '\\r'
        $C -s -D out -L $U/moved; tr -d '\\r' < out
        $C -s -D out -o body $U/missing; tr -d '\\r' < out; cat body
        $C -s -i $U/page | tr -d '\\r'
        $C -s -i -L $U/moved | tr -d '\\r'
        $C -s -i -o out $U/page; tr -d '\\r' < out
        $C -s -C 3 -o part $U/page; cat part
        $C -s -o 'out-#1' "$U/{page,other}"; cat out-page out-other
        $C -s -o '#2#1' "$U/[1-2]/{a,b}"; cat a1 b1 a2 b2
        $C -s -o /dev/null $U/page
        $C -s -c jar2 -o out $U/page; cat out
        """

    private static let urls = """
        $C -s "$U/[1-3]"
        $C -s "$U/[01-03]"
        $C -s "$U/[a-c]"
        $C -s "$U/[0-10:5]"
        $C -s "$U/[a-e:2]"
        $C -s "$U/{a,b,c}"
        $C -s "$U/{a,b}/[1-2]"
        $C -s "$U/{a}"
        $C -s "$U/{,b}"
        $C -s "$U/[3-1]"
        $C -s "$U/{a"
        $C -s "$U/a}"
        $C -s "$U/[1-"
        $C -s -g "$U/page"
        $C -s --url $U/page
        $C -s --url $U/page --url $U/other
        $C -s --url $U/page $U/other
        $C -s $U/page $U/other
        $C -s -d a $U/echo --next $U/page
        $C -s $U/page -: -X PUT $U/echo
        $C -s -A me $U/echo --next $U/echo
        $C -s -K config
        $C -s -K config $U/other
        echo "url = $U/page" | $C -s -K -
        $C -s -K missing $U/page
        $C -s nosuch://127.0.0.1/
        $C -s ''
        $C -s http://127.0.0.1:99999/
        $C -s --nonsense $U/page
        $C -s --max-time soon $U/page
        $C -s
        """

    private static let answers = """
        $C -s $U/page
        $C -s $U/missing
        $C -s -f $U/missing
        $C -s -f $U/page
        $C -s --fail-with-body $U/missing
        $C -s --fail-with-body $U/page
        $C -s -f --fail-early $U/missing $U/page
        $C -sf $U/page $U/missing
        $C -s --max-filesize 3 $U/page
        $C -s --max-filesize 1k $U/page
        $C -s --max-filesize 1000 -o out $U/page; cat out
        $C -s -L $U/moved
        $C -s --no-location $U/moved
        $C -s -L $U/moved/twice
        $C -s -L --max-redirs 0 $U/moved
        $C -s -L --max-redirs 1 $U/moved/twice
        $C -s -L --max-redirs 2 $U/moved/twice
        $C -s -L -d a=b $U/moved/302
        $C -s -L -d a=b $U/moved/303
        $C -s -L -d a=b $U/moved/307
        $C -s -L -X DELETE $U/moved/307
        $C -s -N $U/page
        $C -s --limit-rate 1M $U/page
        $C -s -Z $U/page -o out; cat out
        $C -s -Z --parallel-max 2 -o a -o b $U/page $U/other; cat a b
        $C -s --retry 1 --retry-delay 1 $U/page
        $C -s --retry 2 --retry-max-time 5 $U/missing
        $C -s -m 5 $U/page
        $C -sS $U/page
        $C -s --no-progress-meter $U/page
        $C -s --stderr out $U/page; cat out
        $C -s -# $U/page
        """

    private static let way = """
        $C -s -4 $U/page
        $C -s --interface 127.0.0.1 $U/page
        $C -s --interface lo $U/page
        $C -s --tcp-nodelay $U/page
        $C -s --noproxy '*' -x http://127.0.0.1:1 $U/page
        $C -s --socks5 127.0.0.1:1 $U/page
        $C -s http://127.0.0.1:1/
        $C -s http://no-such-host.invalid/
        $C -s --proto =https,http $U/page
        $C -s --proto =ftp $U/page
        $C -s --proto-redir =ftp -L $U/moved
        $C -s --tlsv1.2 $U/page
        $C -s --tls-max 1.2 $U/page
        """

    /// Variables of --write-out whose values are the same in any run.
    private static let writeOut = """
        $C -s -w '%{http_code}\\n' $U/page
        $C -s -w '%{response_code} %{http_version}\\n' $U/missing
        $C -s -w '%{content_type}\\n' $U/page
        $C -s -w '%{size_download} %{size_upload}\\n' -d abc $U/echo
        $C -s -w '%{num_redirects} %{num_connects}\\n' -L $U/moved
        $C -s -w '%{url_effective}\\n' -L $U/moved
        $C -s -w '%{url}\\n' -L $U/moved
        $C -s -w '%{method}\\n' -X PUT $U/echo
        $C -s -w '%{remote_ip} %{remote_port} %{local_ip}\\n' $U/page
        $C -s -w '%{filename_effective}\\n' -o out $U/page
        $C -s -w '%{filename_effective}\\n' -O $U/page
        $C -s -w '%{exitcode} %{http_code}\\n' -f $U/missing
        $C -s -w '%{exitcode}\\n' http://127.0.0.1:1/
        $C -s -w '%header{x-one} %header{none}\\n' $U/page
        $C -s -w 'a\\tb\\\\n%%\\n' $U/page
        $C -s -w '%{num_headers} %{urlnum}\\n' $U/page $U/other
        $C -s -w '%{redirect_url}\\n' --no-location $U/moved
        $C -s -w '%{redirect_url}\\n' $U/page
        $C -s -w '%{referer}\\n' -e http://from/ $U/page
        $C -s -w '%{header_json}\\n' $U/page
        $C -s -w '%{ssl_verify_result}\\n' $U/page
        $C -s -w 'a%{stderr}b%{stdout}c\\n' $U/page 2>/dev/null
        $C -s -w 'a%{onerror}b\\n' $U/page
        $C -s -w 'a%{onerror}b\\n' -f $U/missing
        $C -s -w '%{json}' -o out $U/page | grep -o '"\\(response_code\\|size_download\\|content_type\\|num_redirects\\)":[^,]*'
        $C -s -w '%{http_code} ' -o a -o b $U/page $U/missing
        """

    /// What only HTTP/1.1 has, or is said in other words over HTTP/2.
    private static let http1 = """
        $C -s localhost:$P/page
        $C -s 127.0.0.1:$P/page
        $C -s --proto-default http 127.0.0.1:$P/page
        $C -s --proto =http $U/page
        $C -s --proto =https $U/page
        $C -s --proto -http $U/page
        $C -s --proto -all,http $U/page
        $C -s --proto-redir =https -L $U/moved
        $C -s --proto-redir =http -L $U/moved
        $C -s -4 localhost:$P/page
        $C -s -6 localhost:$P/page
        $C -s --no-buffer $U/page
        $C -s --retry 1 --retry-delay 1 --retry-all-errors $U/nothing
        $C -s --resolve a.test:$P:127.0.0.1 http://a.test:$P/echo
        $C -s --resolve '*:'$P:127.0.0.1 http://b.test:$P/page
        $C -s --resolve a.test:$P:127.0.0.2,127.0.0.1 http://a.test:$P/page
        $C -s --connect-to a.test:80:127.0.0.1:$P http://a.test/page
        $C -s --connect-to a.test:80:localhost:$P http://a.test/page
        $C -s --connect-to ::127.0.0.1:$P http://a.test/page
        $C -s --connect-to :80:127.0.0.1:$P http://a.test/page
        $C -s --connect-to a.test:80:b.test:81 --connect-to a.test:80:127.0.0.1:$P http://a.test/page
        $C -s --connect-to a.test::b.test:$P --resolve b.test:$P:127.0.0.1 http://a.test/page
        $C -s --connect-to b.test::127.0.0.1:1 $U/page
        $C -s --connect-timeout 30 $U/page
        $C -s --keepalive-time 20 $U/page
        $C -s -x http://127.0.0.1:1 $U/page
        $C -s -k $U/page 2>/dev/null
        $C -s --unix-socket nosuch $U/page
        $C -s --http1.1 $U/echo
        $C -s --http2 $U/page
        $C -s $U/short
        $C -s $U/nothing
        $C -s -i $U/continue | tr -d '\\r'
        """
}
