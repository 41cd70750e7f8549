const PAGE_ROWS = 50;

function compared(first, second) {
  if (first === second) return 0;
  if (first === null || first === undefined) return 1;
  if (second === null || second === undefined) return -1;
  if (typeof first === "number" && typeof second === "number") return first - second;
  return String(first).localeCompare(String(second), "en", { numeric: true });
}

// A table that sorts by its heads and turns pages. `columns` are {name, key, cell, number}; `state` is {sort, down, page}.
class SortedTable {
  constructor(caption, columns, rows, state, changed) {
    Object.assign(this, { caption, columns, rows, state, changed });
    this.head = make("thead");
    this.body = make("tbody");
    this.pager = make("p", { class: "filters" });
    const table = make("table", {}, caption ? make("caption", { class: "aloud" }, caption) : null, this.head, this.body);
    this.element = make("div", {}, make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption || "table" }, table), this.pager);
    this.update(rows);
  }

  update(rows) {
    this.rows = rows;
    const column = this.columns.find((one) => one.name === this.state.sort);
    this.sorted = rows.slice();
    if (column) {
      const sign = this.state.down ? -1 : 1;
      this.sorted.sort((a, b) => {
        const first = column.key(a), second = column.key(b);
        const unknown = (first === null || first === undefined) || (second === null || second === undefined);
        return unknown ? compared(first, second) : sign * compared(first, second);
      });
    }
    this.state.page = Math.max(0, Math.min(this.state.page || 0, Math.ceil(rows.length / PAGE_ROWS) - 1));
    this.draw();
  }

  draw() {
    fill(this.head, make("tr", {}, this.columns.map((column) => this.headOf(column))));
    const start = this.state.page * PAGE_ROWS;
    fill(this.body, this.sorted.slice(start, start + PAGE_ROWS).map((row) => make("tr", {}, this.columns.map((column) => this.cellOf(column, row)))));
    fill(this.pager, this.rows.length > PAGE_ROWS ? this.turns(start) : []);
  }

  cellOf(column, row) {
    const cell = make("td", {}, column.cell(row));
    if (column.number) cell.classList.add("number");
    if (cell.textContent.length <= 28) cell.classList.add("short");
    return cell;
  }

  headOf(column) {
    const on = column.name === this.state.sort;
    const order = on ? (this.state.down ? "descending" : "ascending") : null;
    const button = make("button", { type: "button", "data-sort": column.name, onclick: () => this.sortBy(column.name) }, column.name);
    return make("th", { scope: "col", "aria-sort": order }, button);
  }

  sortBy(name) {
    this.state.down = this.state.sort === name && !this.state.down;
    this.state.sort = name;
    this.state.page = 0;
    this.update(this.rows);
    this.changed();
    for (const button of this.head.querySelectorAll("button")) if (button.dataset.sort === name) button.focus();
  }

  turns(start) {
    const last = Math.ceil(this.rows.length / PAGE_ROWS) - 1;
    const turn = (step, text, stuck) => make("button", { type: "button", disabled: stuck, onclick: () => {
      this.state.page += step;
      this.draw();
      this.changed();
    } }, text);
    const said = `${number(start + 1)}–${number(Math.min(start + PAGE_ROWS, this.rows.length))} of ${number(this.rows.length)}`;
    return [turn(-1, "Previous", this.state.page === 0), make("span", {}, said), turn(1, "Next", this.state.page === last)];
  }
}

// A table of the report: strings as printed, sorted by the number that leads a cell where there is one.
function printed(table) {
  const leading = (text) => {
    const match = /^[$>~≥]*\s*(-?[\d,]*\.?\d+)/.exec(text);
    return text === "–" ? null : match ? Number(match[1].replaceAll(",", "")) : text;
  };
  const columns = table.columns.map((name, place) => ({ name, key: (row) => leading(row[place]), cell: (row) => row[place] }));
  const sorted = new SortedTable(table.title, columns, table.rows, {}, () => {});
  const filter = make("input", { type: "search", oninput: () => {
    const words = filter.value.toLowerCase();
    sorted.update(table.rows.filter((row) => row.some((cell) => cell.toLowerCase().includes(words))));
  } });
  const box = table.rows.length > 8 ? make("div", { class: "filters" }, make("label", {}, "Filter rows", filter)) : null;
  return make("section", { id: "table-" + table.name }, make("h2", {}, table.title), box, sorted.element,
    table.note ? make("p", { class: "soft" }, table.note) : null);
}
