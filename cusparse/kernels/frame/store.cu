// One thread owns a row and writes its result.
