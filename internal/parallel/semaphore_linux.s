// This file lets semaphore_linux.go declare functions without a body.
