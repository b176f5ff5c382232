// Package depot is a third kind of VIM, which only tests know: an imaginary depot,
// its driver, the clients that use a lease of it, and a fake of it at the network.
// It shows what a driver needs, and that nothing outside its folder knows of it.
package depot
