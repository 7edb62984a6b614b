//go:build !linux

package parallel

const canMove = false

func moveThread() {}
