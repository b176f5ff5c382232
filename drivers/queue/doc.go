// Package queue runs passes and jobs on River, the same way on every store.
//
// A pass is periodic. River makes its jobs, and keeps two of one pass from running at
// once.
//
// A job is a row of the store's own table, which the caller's transaction writes. River
// only dispatches: one job of River's stands for one attempt, and is made soon after
// that transaction ends. So River never repeats an attempt, and what it believes of a
// worker that was paused decides nothing: the fence in the row does. An attempt starts
// by raising the fence, and while it runs it says every few seconds that it is alive. An
// attempt that says nothing for [job.TakeoverAfter] is followed by the next.
package queue
