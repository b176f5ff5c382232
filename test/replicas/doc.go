// Package replicas runs three servers on one PostgreSQL, under load, and disturbs
// them: one is killed, stopped for a minute or cut off, the database restarts,
// clocks are apart, one server after the other is upgraded. After each disturbance
// it proves that no lease was minted twice, no revocation was lost, and nothing is
// left over. Subscribers are told of everything in its order meanwhile.
package replicas
