// Command goroutines is compiled to WebAssembly by a test. Its functions are left and
// entered again in every way that there is: inside loops and nested loops, behind calls
// that grow the stack, in defer and recover, by channels, locks and garbage collection.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"
)

func main() {
	fmt.Println("switches", switches(20, 30))
	fmt.Println("deep", deep(20000))
	fmt.Println("recovered", recovered(10))
	fmt.Println("primes", primes(50))
	fmt.Println("garbage", garbage(200))
	fmt.Println("labels", labels(9))
	fmt.Println("sorted", sorted(500))
	fmt.Println("locked", locked(8, 50))
	fmt.Println("states", states("abcacbbbacbaabcc"))
	os.Exit(3)
}

// switches lets another goroutine run inside nested loops.
func switches(n, m int) (sum int) {
	turns := make(chan int)
	go func() {
		for i := range n * m {
			turns <- i
			if i%7 == 0 {
				runtime.Gosched()
			}
		}
		close(turns)
	}()
	for i := 0; i < n; i++ {
		for j := 0; ; j++ {
			if j == m {
				break
			}
			runtime.Gosched()
			sum = sum*3 + <-turns + i*j
		}
	}
	return sum
}

// deep grows the stack.
func deep(n int) int {
	var frame [16]int
	if n == 0 {
		return 0
	}
	frame[n%16] = deep(n-1) + 1
	return frame[n%16]
}

func recovered(n int) (texts []string) {
	for i := range n {
		texts = append(texts, fail(i))
	}
	return texts
}

// fail panics in several ways, and in a deferred function that panics too.
func fail(i int) (text string) {
	defer func() { text += fmt.Sprint(recover()) }()
	for range i {
		defer func() {
			if i%4 == 0 {
				runtime.Gosched()
				text += fmt.Sprint(recover())
			}
		}()
	}
	var list []int
	var pointer *int
	switch i % 4 {
	case 0:
		panic(i)
	case 1:
		return fmt.Sprint(list[i])
	case 2:
		return fmt.Sprint(*pointer)
	}
	return fmt.Sprint(10 / len(list))
}

// primes is a chain of goroutines.
func primes(n int) (list []int) {
	source := make(chan int)
	go func(source chan<- int) {
		for i := 2; ; i++ {
			source <- i
		}
	}(source)
	for range n {
		prime := <-source
		list = append(list, prime)
		next := make(chan int)
		go func(source <-chan int) {
			for i := range source {
				if i%prime != 0 {
					next <- i
				}
			}
		}(source)
		source = next
	}
	return list
}

func garbage(n int) int {
	lists := map[string][]string{}
	for i := range n {
		key := fmt.Sprint(i % 17)
		lists[key] = append(lists[key], strings.Repeat(key, i))
		if i%50 == 0 {
			runtime.GC()
		}
	}
	total := 0
	for _, list := range lists {
		for _, s := range list {
			total += len(s)
		}
	}
	return total
}

// labels leaves loops from the inside.
func labels(n int) (count int) {
outer:
	for i := 0; i < n; i++ {
		for j := 0; j < n; j++ {
			switch {
			case i*j == 42:
				break outer
			case (i+j)%5 == 0:
				continue outer
			}
			runtime.Gosched()
			count += i ^ j
		}
	}
	return count
}

func sorted(n int) int {
	list := make([]int, n)
	seed := uint32(1)
	for i := range list {
		seed = seed*1664525 + 1013904223
		list[i] = int(seed >> 8)
	}
	sort.Slice(list, func(i, j int) bool {
		if i%97 == 0 {
			runtime.Gosched()
		}
		return list[i] < list[j]
	})
	return list[0] ^ list[n/2] ^ list[n-1]
}

func locked(workers, n int) (sum int) {
	var lock sync.Mutex
	var done sync.WaitGroup
	for w := range workers {
		done.Go(func() {
			for i := range n {
				lock.Lock()
				runtime.Gosched()
				sum += w * i
				lock.Unlock()
			}
		})
	}
	done.Wait()
	return sum
}

// states jumps between labels: a loop with two entries.
func states(text string) (count int) {
	i := 0
	if len(text)%2 == 0 {
		goto second
	}
first:
	count += 3
	runtime.Gosched()
	i++
second:
	if i >= len(text) {
		return count
	}
	switch text[i] {
	case 'a':
		goto first
	case 'b':
		i += 2
		runtime.Gosched()
		count *= 2
		goto second
	}
	i++
	goto first
}
