// Package crash is the crash kit: it kills a real server with SIGKILL at every
// failpoint of the source, before and after every commit of every flow, at
// random moments under load, and while its disk is full, starts it again, and
// proves that nothing is left over.
//
// What is proved is always the same, and stands in proof_test.go: no object
// upstream without a lease and none the other way, no living token that no
// lease answers for, no key without a row and no row without a key, an audit
// chain without a gap that still holds what it held, and no file that nobody
// owns. What is killed where stands in point_test.go: a failpoint that no
// scenario reaches fails the kit. The first flow of each failpoint, and the commits of
// four flows, are of "make test-real"; "make test-field" has the others.
package crash
