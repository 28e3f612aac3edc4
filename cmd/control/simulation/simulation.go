// Package simulation runs weir against a whole simulated fabric in one process on virtual time: a seed chooses fabric, change,
// traffic and everything that goes wrong, and invariants say afterwards whether weir told the truth and left the fabric as it
// should. Nothing of it is part of the program.
package simulation
