/* One that pulls the planted code out of an archive by its name. */
extern const char planted[];
int main(void) { return planted[0] == 0 && planted[1] == 1; }
