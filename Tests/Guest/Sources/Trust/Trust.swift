/// The guest's own module of this name.
public let nameTrust = "Trust"
