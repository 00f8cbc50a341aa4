// A click on a heading sorts the rows of a table by that column: numbers by size, other cells by their words.
"use strict";

const number = /^[^\d+-]*([+-]?\d[\d,]*\.?\d*|[+-]?\.\d+)/;

function key(row, column) {
    const text = row.cells[column]?.textContent.trim() ?? "";
    const found = number.exec(text.replace("\u2212", "-"));
    return found ? [0, Number(found[1].replaceAll(",", "")), text] : [1, 0, text];
}

function compare(a, b) {
    return a[0] - b[0] || a[1] - b[1] || a[2].localeCompare(b[2]);
}

function sort(table, column, heading) {
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((a, b) => compare(key(a, column), key(b, column)));
    body.append(...(down ? rows.reverse() : rows));
}

for (const table of document.querySelectorAll(".bd-article table.table")) {
    if (!table.tHead || table.tHead.rows.length !== 1 || table.tBodies[0].rows.length < 5) continue;
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
        if (heading.textContent.trim() === "") return;
        heading.classList.add("sortable");
        heading.tabIndex = 0;
        heading.addEventListener("click", () => sort(table, column, heading));
        heading.addEventListener("keydown", (event) => {
            if (event.key === "Enter") sort(table, column, heading);
        });
    });
}
