/* The guest's own module of this name. */
static inline int guest_copenssl(void) { return 1; }
