/// The guest's own module of this name.
public let nameSockets = "Sockets"
