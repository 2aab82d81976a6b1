/* The guest's own module of this name. */
static inline int guest_czlib(void) { return 1; }
