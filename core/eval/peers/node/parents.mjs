// parents returns a domain and every domain above it, without the top-level domain.
export function parents(domain) {
	const labels = domain.split(".");
	return labels.slice(0, -1).map((_, i) => labels.slice(i).join("."));
}
