//go:build !(linux && (amd64 || arm64))

package driver

import "errors"

var errNoDlopen = errors.New("libraries are opened on Linux only")

func dlopen(string) (uintptr, error) { return 0, errNoDlopen }

func dlsym(uintptr, string) (uintptr, error) { return 0, errNoDlopen }

//go:uintptrescapes
func call(uintptr, ...uintptr) uint32 { panic(errNoDlopen) }

//go:uintptrescapes
func call4(_, _, _, _, _ uintptr) uint32 { panic(errNoDlopen) }

//go:uintptrescapes
func call11(_, _, _, _, _, _, _, _, _, _, _, _ uintptr) uint32 { panic(errNoDlopen) }

func bind(any, uintptr) {}
