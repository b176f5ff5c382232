// Package failpoint names the places between two steps of a flow at which the
// crash kit kills the process, to prove that nothing is left over.
//
// In an ordinary build [At] is empty and costs nothing. Built with the tag
// "failpoints", the process sends itself SIGKILL at the point that the
// environment variable VIMBROKER_FAILPOINT names: the first time it gets there,
// or with "NAME#3" the third time. If the variable holds an absolute path
// instead, the point is read from that file, so that a process can be armed
// while it runs: counting starts when the file does.
package failpoint
