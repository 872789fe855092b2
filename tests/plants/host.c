/* A program that carries what it was linked with, and does nothing. */
int main(void) { return 0; }
