package bench
import ("testing";"fmt";"github.com/hiveblas/hiveblas/apps")
func BenchmarkGeo(b *testing.B){
	in,err:=makeInput("rmat18"); if err!=nil {b.Fatal(err)}
	c:=&cpuBench{CPUOptions:CPUOptions{Threads:2}}
	b.ResetTimer()
	for range b.N { d,x,err:=oursGeo(c,in,nil); if err!=nil {b.Fatal(err)}; fmt.Println(d,x) }
	l,_:=hashLocations(in.graph.NRows)
	r,_:=apps.Geolocate(in.f64,l,geoOptions(apps.Run{}))
	fmt.Println(r.Passes,r.Located,r.Unlocated,r.Unfinished)
}
