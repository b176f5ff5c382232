// Mutants tells whether the tests notice faults. It copies the repository, compiles faults into the copy behind
// a switch, runs each test alone to see which faults it reaches, and then each fault with only those tests that
// reach it. A fault that no test notices is missed.
//
//	go run ./test/mutants -seed 7 -n 600                 a sample; -seeds 3: and those of the seeds 8 and 9, with one trace
//	go run ./test/mutants -all                           every fault, on from where the last such run stopped
//	go run ./test/mutants -only 'policy/decide.go allows' -list    the faults whose name has that text
//	go run ./test/mutants -unreached -near ./policy/...  those that no test of their packages reaches
//	go run ./test/mutants -few 2 ./policy/...            a sample of those that one or two tests reach: more of them are missed
//	go run ./test/mutants -hand test/mutants/hand.txt    faults that somebody wrote; -besides: and a sample
//	go run ./test/mutants -n 40 ./policy ./broker/grant  a sample of some packages
//
// Faults by rule are those of [finder]. The file missed.txt lists faults that runs found and nobody mended, each
// with its reason; one whose reason begins with "equivalent" counts as none.
//
// Tests of real systems are skipped, but for those of drivers/postgres where there are faults of that package and
// PostgreSQL is found: running each of them alone takes some six minutes.
package main
