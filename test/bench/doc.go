// Package bench measures what the broker costs over what lies underneath it, in
// one run on a real API server:
//
//	go test -run '^$' -bench . ./test/bench
//
// Each figure is a benchmark that sets what it compares side by side, in turns,
// so that a machine that slows down slows down both. What is to be read is the
// table at the end: times are of this machine and this run, ratios and goals are
// what can be compared with another. With -figures=FILE it is also written as
// JSON. Slowness fails nothing; only work that errs does.
package bench
