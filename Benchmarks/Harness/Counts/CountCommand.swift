enum CountCommand {
    static func run(_ arguments: [String]) throws {}
}
