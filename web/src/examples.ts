// The protocol texts that come with conclave.
const texts = import.meta.glob("../../protocols/*.{pp,crn}", { query: "?raw", import: "default", eager: true }) as Record<string, string>;

export const examples = Object.entries(texts).map(([path, content]) => ({ name: path.split("/").pop()!, content }));
