// Which TCP connections this machine has, as the system lists them: for checks of what a program keeps open.

/// Connections of this machine.
package enum ProcessSockets {
    /// How many connections over IPv4 to a port of this machine are open at the end that opened them.
    package static func connections(to port: Int) -> Int {
        // In each line: number, local and remote address with the port in hexadecimal digits, state,
        // where 01 is established.
        ProcessFiles.contents("/proc/self/net/tcp").split(separator: "\n").dropFirst().count { line in
            let fields = line.split(separator: " ")
            guard fields.count > 3, let colon = fields[2].firstIndex(of: ":") else { return false }
            return Int(fields[2][colon...].dropFirst(), radix: 16) == port && fields[3] == "01"
        }
    }
}
