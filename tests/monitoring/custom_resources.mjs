// Whether objects of the Prometheus operator are what its definitions allow, and have no field that these do not name. What
// they say is read from the npm package @kubernetes-models/prometheus-operator.
//
//   node custom_resources.mjs NODE_MODULES <objects.json      a list; prints what is wrong, a line each
import fs from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const definitions = path.join(path.resolve(process.argv[2]), '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1');

// The definitions let unknown fields pass, as an API server does. Names under labels and annotations are free.
function* unknown(value, types, where) {
    if (Array.isArray(value)) {
        for (const [i, element] of value.entries()) yield* unknown(element, types, `${where}[${i}]`);
    } else if (value !== null && typeof value === 'object') {
        for (const key in value) {
            if (!new RegExp(`"?\\b${key}\\b"?\\??:`).test(types)) yield `${where}.${key}: there is no such field`;
            if (!['labels', 'annotations'].includes(key)) yield* unknown(value[key], types, `${where}.${key}`);
        }
    }
}

for (const object of JSON.parse(fs.readFileSync(0, 'utf8'))) {
    const where = `${object.kind}/${object.metadata.name}`;
    const module = await import(pathToFileURL(path.join(definitions, `${object.kind}.js`)));
    try {
        new module[object.kind](object).validate();
    } catch (error) {
        console.log(`${where}: ${error.message}`);
    }
    for (const line of unknown(object.spec, fs.readFileSync(path.join(definitions, `${object.kind}.d.ts`), 'utf8'), where)) console.log(line);
}
