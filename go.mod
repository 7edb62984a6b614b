module github.com/hiveblas/hiveblas

go 1.26
