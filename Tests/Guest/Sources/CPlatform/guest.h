/* The guest's own module of this name. */
static inline int guest_cplatform(void) { return 1; }
