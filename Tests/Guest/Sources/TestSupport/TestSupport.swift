/// The guest's own module of this name.
public let nameTestSupport = "TestSupport"
