package tables

import (
	"context"
	"slices"
	"strings"
)

// OrBackground returns a context that never ends in place of nil.
func OrBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

func Wanted(only []string, name string) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(s string) bool { return strings.Contains(name, s) })
}
